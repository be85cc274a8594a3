"""GB0067: HOP: Unsafe side effect."""

import torch
from torch.utils.checkpoint import checkpoint

SEEN = []


def block(x):
    SEEN.append(x.shape)  # expect: GB0067 [SEEN.append(x.shape)]
    return torch.relu(x)


@torch.compile
def f(x):
    y = x * 2
    return checkpoint(block, y, use_reentrant=False)


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
