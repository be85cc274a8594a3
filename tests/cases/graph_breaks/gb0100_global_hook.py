"""GB0100: Storing Tensor hook handle in globals."""

import torch

HANDLE = None


@torch.compile
def f(x):
    global HANDLE
    y = x * 2
    HANDLE = x.register_hook(lambda grad: grad + 1)  # expect: GB0100 [HANDLE]
    return y.sum()


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
