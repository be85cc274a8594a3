"""GB0134: Unsupported arguments for itertools.groupby."""

import itertools

import torch


@torch.compile
def f(xs):
    ys = [x * 2 for x in xs]
    total = ys[0]
    groups = itertools.groupby(ys, lambda y: y.shape)  # expect: GB0134 [itertools.groupby(ys, lambda y: y.shape)]
    for _, group in groups:  # expect(<2.15): GB0811 [groups]  # expect(>=2.15): GB9493 [groups]
        total = total + sum(group).sum()
    return total


if __name__ == "__main__":
    f([torch.ones(2), torch.ones(2), torch.ones(2)])
