"""Every private name of torch, TorchInductor and Triton that Fullgraph touches, with what stands in elsewhere."""
