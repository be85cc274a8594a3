"""A tensor, then a number."""

# cause(<2.14): type of `scale` was a tensor, is now float
# cause(>=2.14): type of `scale` was torch.Tensor, is now float
# advice: torch.tensor(scale, dtype=torch.float32)

import torch


@torch.compile
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (torch.tensor(2.0), 2.0):
        f(torch.ones(4), scale)  # fix: f(torch.ones(4), torch.tensor(scale, dtype=torch.float32))
