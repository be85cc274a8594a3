"""GB0246: Attempted to use `torch.nn.functional.one_hot` with data-dependent output shape."""

import torch
import torch.nn.functional as F


@torch.compile
def f(labels):
    y = labels + 1

    def encode(indices):
        return F.one_hot(indices)  # expect: GB0246 [F.one_hot(indices)]

    return encode(y) * 2


if __name__ == "__main__":
    f(torch.tensor([0, 1, 2]))
