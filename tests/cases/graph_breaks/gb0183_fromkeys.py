"""GB0183: failed to call dict.fromkeys()."""

import torch


@torch.compile
def f(x):
    y = x * 2
    table = dict.fromkeys([y.storage, slice(1)], 3)  # expect: GB0183 [dict.fromkeys([y.storage, slice(1)], 3)]
    return y * len(table)


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except TypeError:
        pass
