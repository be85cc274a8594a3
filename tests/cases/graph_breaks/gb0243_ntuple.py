"""GB0243: Attempted to use `torch.nn.modules.utils._ntuple` with unsupported argument type."""

import torch
from torch.nn.modules.utils import _pair


class Size:
    pass


@torch.compile
def f(x, size):
    y = x * 2
    both = _pair(size)  # expect: GB0243 [_pair(size)]
    return y + len(both)


if __name__ == "__main__":
    f(torch.ones(2), Size())
