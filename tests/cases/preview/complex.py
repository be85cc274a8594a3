"""Complex numbers, of which TorchInductor lowers little."""

import torch

device = "cuda"


@torch.compile
def spectrum(x):
    return (x * 2).abs() + x.real


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 64, device=device, dtype=torch.complex64)
    out = spectrum(x)
