"""GB0811: missing tp_iter."""

import array

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    first, second = sizes  # expect(<2.15): GB0811 [first, second]  # expect(>=2.15): GB9493 [first, second]
    return y + first + second


if __name__ == "__main__":
    f(torch.ones(2), array.array("i", [1, 2]))
