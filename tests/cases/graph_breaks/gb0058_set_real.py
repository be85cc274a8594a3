"""GB0058: Failed to set tensor attribute."""

import torch


@torch.compile
def f(z, x):
    with torch.no_grad():
        y = x * 2
        z.real = y  # expect: GB0058 [z.real]
    return z.abs()


if __name__ == "__main__":
    f(torch.zeros(3, dtype=torch.complex64), torch.ones(3))
