"""A Fourier transform by a library function, with operations around it."""

import torch

device = "cuda"


@torch.compile
def power(x):
    return torch.fft.rfft(x * torch.hann_window(64, device=x.device)).abs() * 2


if __name__ == "__main__":
    torch.manual_seed(0)
    out = power(torch.randn(64, 64, device=device))
