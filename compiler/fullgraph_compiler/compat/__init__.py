"""Every private name of torch, TorchInductor and Triton that Fullgraph touches, and what stands in for it."""
