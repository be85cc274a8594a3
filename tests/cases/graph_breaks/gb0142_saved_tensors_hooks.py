"""GB0142: Unsupported context manager."""

import torch
from torch.autograd.graph import saved_tensors_hooks


def pack(x):
    return x


def unpack(x):
    return x


@torch.compile
def f(x):
    y = x * 2
    with saved_tensors_hooks(pack, unpack):  # expect: GB0008 [saved_tensors_hooks(pack, unpack)]  # expect(<2.15): GB0142 [saved_tensors_hooks(pack, unpack)]
        y = y.sin()
    return y


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
