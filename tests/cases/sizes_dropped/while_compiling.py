"""What is compiled is written for eight or twelve rows, what runs uncompiled for any number."""

import torch


@torch.compile(dynamic=True)
def f(x):
    if torch.compiler.is_compiling():
        return x[:12].sum(0)
    return x.sum(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n, 3))
