"""Other keyword arguments in each call."""

# cause: length of `kwargs` is no longer 1
# advice: the same keys

import torch


@torch.compile
def f(x, **kwargs):
    return x * len(kwargs)  # expect: recompile [kwargs]


if __name__ == "__main__":
    f(torch.ones(4), a=1)  # fix: f(torch.ones(4), a=1, b=2)  # the same keys
    f(torch.ones(4), a=1, b=2)
