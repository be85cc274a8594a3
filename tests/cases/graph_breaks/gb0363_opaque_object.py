"""GB0363: An opaque object was created in the middle of the program.."""

import torch


@torch.compile
def f(x):
    y = x * 2
    weight = torch.empty(2).uniform_(0, 1, generator=torch.Generator())  # expect: GB0363 [torch.Generator()]; GB0007 [torch.empty(2).uniform_(0, 1, generator=torch.Generator())]
    return y + weight


if __name__ == "__main__":
    f(torch.ones(2))
