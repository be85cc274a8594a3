"""The condition that a size is even is filtered out."""

import torch


def keep(guards):
    return [item.guard_type != "SHAPE_ENV" for item in guards]


@torch.compile(dynamic=True, options={"guard_filter_fn": keep})
def f(x):
    return x.cos() if x.shape[0] % 2 == 0 else x.sin()


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
