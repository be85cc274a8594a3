"""An optional tensor that only the first call has."""

# cause(<2.14): type of `mask` was a tensor, is now NoneType
# cause(>=2.14): type of `mask` was torch.Tensor, is now NoneType
# advice: torch.ones(

import torch


@torch.compile
def f(x, mask=None):
    if mask is not None:  # expect: recompile [mask]
        x = x * mask
    return x * 2


if __name__ == "__main__":
    f(torch.ones(4), torch.ones(4))
    f(torch.ones(4))  # fix: f(torch.ones(4), torch.ones(4))
