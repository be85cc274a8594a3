"""GB0250: ndarray.astype(object)."""

import torch


@torch.compile
def f(x):
    y = (x * 2).numpy()
    objects = y.astype(object)  # expect: GB0250 [y.astype(object)]
    return x + len(objects)  # expect: GB0185 [len(objects)]


if __name__ == "__main__":
    f(torch.ones(4))
