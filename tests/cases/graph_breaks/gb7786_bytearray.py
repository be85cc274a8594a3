"""GB7786: missing_mp_ass_subscript."""

import torch


@torch.compile
def f(x, data):
    y = x * 2
    data[0] = 3  # expect: GB7786 [data[0]]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2), bytearray(b"abc"))
