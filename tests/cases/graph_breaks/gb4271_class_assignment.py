"""GB4271: __class__ assignment on user-defined object."""

import torch


class Fast:
    scale = 2


class Slow:
    scale = 3


@torch.compile
def f(x, mode):
    y = x * 2
    mode.__class__ = Slow  # expect: GB4271 [mode.__class__]
    return y * mode.scale


if __name__ == "__main__":
    f(torch.ones(2), Fast())
