"""GB0308: torch.while_loop: unsupported cond_fn return type."""

import torch
from torch._higher_order_ops.while_loop import while_loop


@torch.compile
def f(x):
    y = x * 2
    return while_loop(lambda t: t < 3, lambda t: (t + 1,), (y,))  # expect: GB0308 [while_loop(lambda t: t < 3, lambda t: (t + 1,), (y,))]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
