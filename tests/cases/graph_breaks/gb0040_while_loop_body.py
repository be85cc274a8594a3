"""GB0040: Encountered aliasing during higher order op tracing, in the body of a loop."""

import torch
from torch._higher_order_ops.while_loop import while_loop


def body(step, x):
    return step + 1, x[:]  # expect: GB0040 [step + 1, x[:]]


@torch.compile
def f(x):
    return while_loop(lambda step, x: step < 3, body, (torch.tensor(0), x))


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
