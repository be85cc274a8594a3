"""GB0152: Unsupported key type for itertools.groupby."""

import itertools

import torch


@torch.compile
def f(xs):
    ys = [x * 2 for x in xs]
    groups = itertools.groupby(ys, key=lambda y: y.sum())  # expect: GB0152 [itertools.groupby(ys, key=lambda y: y.sum())]
    return [len(list(group)) for _, group in groups]


if __name__ == "__main__":
    f([torch.ones(2), torch.ones(2), torch.zeros(2)])
