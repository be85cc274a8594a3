"""All uses of private names of torch, TorchInductor and Triton."""
