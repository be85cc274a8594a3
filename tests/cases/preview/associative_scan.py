"""A linear recurrence, as a scan that is computed in parallel."""

import torch
from torch._higher_order_ops.associative_scan import associative_scan

device = "cuda"


def follow(left, right):
    return left[0] * right[0], left[1] * right[0] + right[1]


@torch.compile(fullgraph=True)
def recurrence(decay, x):
    return associative_scan(follow, (decay, x), dim=1)[1]


if __name__ == "__main__":
    torch.manual_seed(0)
    decay, x = torch.rand(32, 256, device=device), torch.randn(32, 256, device=device)
    out = recurrence(decay, x)
