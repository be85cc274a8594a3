"""GB4880: missing_mp_subscript."""

import array

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    return y + sizes[1]  # expect(<2.15): GB4880 [sizes[1]]  # expect(>=2.15): GB9493 [sizes[1]]


if __name__ == "__main__":
    f(torch.ones(2), array.array("i", [1, 2]))
