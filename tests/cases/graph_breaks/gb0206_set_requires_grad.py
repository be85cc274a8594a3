"""GB0206: setattr() on Tensor.requires_grad."""

import torch


@torch.compile
def f(x):
    y = x * 2
    x.requires_grad = True  # expect: GB0206 [x.requires_grad]
    return y + x


if __name__ == "__main__":
    f(torch.ones(2))
