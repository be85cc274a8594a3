"""An optional tensor that comes with the second call."""

# cause: `mask` was None, is now a tensor
# advice: torch.ones(

import torch


@torch.compile
def f(x, mask=None):
    if mask is not None:  # expect: recompile [mask]
        x = x * mask
    return x * 2


if __name__ == "__main__":
    f(torch.ones(4))  # fix: f(torch.ones(4), torch.ones(4))
    f(torch.ones(4), torch.ones(4))
