"""GB0170: Data-dependent branching."""

import torch


@torch.compile
def toy_example(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:  # expect: GB0170 [b.sum() < 0]
        b = b * -1
    return x * b


if __name__ == "__main__":
    toy_example(torch.ones(4), torch.ones(4))
