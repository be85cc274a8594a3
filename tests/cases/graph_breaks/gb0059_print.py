"""GB0059: Failed to trace builtin operator."""

import torch


@torch.compile
def f(a, b):
    x = a / (torch.abs(a) + 1)
    print("x has", x.shape, end="")  # expect: GB0059 [print("x has", x.shape, end="")]
    return x * b


if __name__ == "__main__":
    f(torch.randn(4), torch.randn(4))
