"""A branch with gradients, which torch compiles by itself where the program runs uncompiled."""

# stage: none

import torch


@torch.compile(fullgraph=True)
def f(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,)).sum()


if __name__ == "__main__":
    f(torch.ones(4, 4, requires_grad=True)).backward()
