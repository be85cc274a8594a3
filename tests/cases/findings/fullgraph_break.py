"""A graph break under fullgraph=True stops the program, and is told once."""

import torch


@torch.compile(fullgraph=True)
def f(x):
    print("x", x.shape)  # expect: GB0059 [print("x", x.shape)]
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
