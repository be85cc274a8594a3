"""GB0109: Tensor.tolist() with non-integer tensor."""

import torch


@torch.compile
def f(x):
    y = x * 2

    def count():
        return len(y.tolist())  # expect: GB0109 [y.tolist()]

    return y + count()


if __name__ == "__main__":
    f(torch.ones(2))
