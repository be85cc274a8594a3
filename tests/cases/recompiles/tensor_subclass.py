"""A tensor of a subclass."""

# cause(<2.14): type of `x` was a tensor, is now Named
# cause(>=2.14): type of `x` was torch.Tensor, is now Named
# advice: x.as_subclass(torch.Tensor)

import torch


class Named(torch.Tensor):
    pass


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4), torch.ones(4).as_subclass(Named)):
        f(x)  # fix: f(x.as_subclass(torch.Tensor))
