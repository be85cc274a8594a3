"""GB9561: sq_inplace_repeat_impl not implemented."""

import array

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    sizes *= 2  # expect(<2.15): GB9561 [sizes *= 2]  # expect(>=2.15): GB9493 [sizes *= 2]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2), array.array("i", [1, 2]))
