"""A scan, whose copy Dynamo does not capture again."""

# stage: unchecked

import torch
from torch._higher_order_ops.scan import scan


def add(total, x):
    return total + x, total + 0


@torch.compile(backend="aot_eager")
def f(start, steps):
    return scan(add, start, steps)


if __name__ == "__main__":
    f(torch.ones(3), torch.ones(4, 3))
