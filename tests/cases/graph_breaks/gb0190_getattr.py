"""GB0190: getattr() with non-constant name argument."""

import torch


class Heads:
    pass


@torch.compile
def f(x, heads):
    y = x * 2
    scale = getattr(heads, y, 3)  # expect: GB0190 [getattr(heads, y, 3)]
    return y * scale


if __name__ == "__main__":
    try:
        f(torch.ones(4), Heads())
    except TypeError:
        pass
