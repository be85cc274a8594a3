"""GB0204: non-const keys in mappingproxy."""

import types

import torch


class Key:
    pass


@torch.compile
def f(x, view):
    y = x * 2
    return y + len(view)  # expect: GB0204 [len(view)]


if __name__ == "__main__":
    f(torch.ones(2), types.MappingProxyType({Key(): 2}))
