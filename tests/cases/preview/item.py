"""A branch on the value of a tensor."""

# otherwise: what follows the branch needs the value

import torch

device = "cuda"


@torch.compile
def branch(x):
    y = x.exp().sum() + 1
    if y.item() > 0:
        return x * 2
    return x * 3


if __name__ == "__main__":
    torch.manual_seed(0)
    out = branch(torch.randn(100, device=device))
