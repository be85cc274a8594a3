"""GB9458: sq_repeat_impl not implemented."""

import array

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    more = sizes * 3  # expect(<2.15): GB9458 [sizes * 3]
    return y + more[0]  # expect(>=2.15): GB0088 [more[0]]


if __name__ == "__main__":
    f(torch.ones(2), array.array("i", [1, 2]))
