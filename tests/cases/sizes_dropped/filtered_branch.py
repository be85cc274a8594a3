"""The condition that a branch on the size makes is filtered out."""

import torch


def keep(guards):
    return [item.guard_type != "SHAPE_ENV" for item in guards]


@torch.compile(dynamic=True, options={"guard_filter_fn": keep})
def f(x):
    return x * 2 if x.shape[0] > 6 else x - 1


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
