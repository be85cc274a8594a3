"""GB0207: sort with non-constant keys."""

import torch


@torch.compile
def f(xs):
    ys = [xs[0] * 2, xs[1] * 3]
    ys.sort(key=lambda y: y.sum())  # expect: GB0207 [ys.sort(key=lambda y: y.sum())]
    return ys[0] + 1


if __name__ == "__main__":
    f([torch.ones(2), torch.zeros(2)])
