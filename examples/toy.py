"""The toy program of PyTorch's torch.compile troubleshooting guide: two graph breaks."""

import torch


@torch.compile
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b


if __name__ == "__main__":
    toy_example(torch.randn(10), torch.randn(10))
