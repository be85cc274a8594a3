"""GB0254: non-const setattr name on user-defined object."""

import torch


class Heads:
    pass


@torch.compile
def f(x, heads):
    y = x * 2
    setattr(heads, y, 3)  # expect(<2.15): GB0254 [setattr(heads, y, 3)]  # expect(>=2.15): GB0088 [setattr(heads, y, 3)]
    return y


if __name__ == "__main__":
    try:
        f(torch.ones(4), Heads())
    except TypeError:
        pass
