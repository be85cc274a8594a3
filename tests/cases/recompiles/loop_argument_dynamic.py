"""The number of steps is an argument, where sizes are dynamic already."""

# cause: `steps` was 2, is now 3
# advice: needs the concrete value of `steps`
# fix: none (each number of steps is a graph of its own)

import torch


@torch.compile(dynamic=True)
def f(x, steps):
    for _ in range(steps):  # expect: recompile [steps]
        x = x * 2
    return x


if __name__ == "__main__":
    for steps in (2, 3):
        f(torch.ones(4), steps)
