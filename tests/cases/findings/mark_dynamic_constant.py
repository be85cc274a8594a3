"""Code makes a number of a size that the program marks as dynamic: torch refuses the mark."""

import torch
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

TABLE = torch.ones(4, 10)


@torch.compile
def add(x):
    y = x.sin()
    return y + TABLE  # expect: size-constraint [y + TABLE]


if __name__ == "__main__":
    rows = torch.ones(4, 10)
    torch._dynamo.mark_dynamic(rows, 0)
    try:
        add(rows)
    except ConstraintViolationError:
        pass
