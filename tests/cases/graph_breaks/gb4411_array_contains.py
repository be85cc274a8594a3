"""GB4411: missing sq_contains."""

import array

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    if 2 in sizes:  # expect(<2.15): GB4411 [2 in sizes]  # expect(>=2.15): GB9493 [2 in sizes]
        y = y + 1
    return y


if __name__ == "__main__":
    f(torch.ones(2), array.array("i", [1, 2]))
