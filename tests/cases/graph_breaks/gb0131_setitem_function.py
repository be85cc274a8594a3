"""GB0131: Unsupported __setitem__/__setattr__/__delitem__/__delattr__ inline attempt."""

import torch


def __setitem__(x, key, value):
    return x.index_fill(0, key, value)


@torch.compile
def f(x, key):
    y = x * 2
    y = __setitem__(y, key, 3)  # expect: GB0131 [__setitem__(y, key, 3)]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2), torch.tensor([0]))
