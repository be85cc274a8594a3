"""GB0247: Shape mismatch with out= tensor variant."""

import torch


@torch.compile
def f(x, out):
    y = x * 2
    total = torch.add(  # expect: GB0247 [torch.add(]
        y,
        x,
        out=out,
    )
    return total + 1


if __name__ == "__main__":
    f(torch.ones(4), torch.empty(0))
