"""The default of a parameter is changed."""

# cause: `shift.__defaults__[0]` was 0.5, is now any float
# advice: dynamic=True

import torch


def shift(x, n=0.5):
    return x + n  # expect: recompile [x + n]


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return shift(x)


if __name__ == "__main__":
    f(torch.ones(4))
    shift.__defaults__ = (0.25,)
    f(torch.ones(4))
