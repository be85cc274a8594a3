"""An iterator over another number of items."""

# cause: `steps` is no longer (0, 2, 1)
# advice: torch.tensor([*steps])

import torch


@torch.compile
def f(x, steps):
    for step in steps:  # fix: for step in (steps.sum(),):  # expect: recompile [steps]
        x = x + step
    return x


if __name__ == "__main__":
    for count in (2, 3):
        steps = iter(range(count))
        # fix: steps = torch.tensor([*steps])
        # fix: torch._dynamo.mark_dynamic(steps, 0)
        f(torch.ones(4), steps)
