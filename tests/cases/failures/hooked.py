"""A hook on a tensor of the graph."""

# stage: none

import torch


@torch.compile
def f(x):
    y = x.sin()
    y.register_hook(lambda gradient: gradient * 2)
    return y.sum()


if __name__ == "__main__":
    f(torch.ones(8, requires_grad=True)).backward()
