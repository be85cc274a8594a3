"""GB0108: Tensor.retain_grad() with AOTDispatcher."""

import torch


@torch.compile
def f(x):
    y = x * 2
    y.retain_grad()  # expect: GB0108 [y.retain_grad]
    return y.sum()


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
