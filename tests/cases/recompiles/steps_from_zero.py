"""The number of a step counts from 0."""

# cause: `step` was 0, is now any int
# advice: the numbers 0 and 1 separately
# fix: none (a graph for 0, and one for all others)

import torch


@torch.compile
def f(x, step):
    return x * step  # expect: recompile [step]


if __name__ == "__main__":
    for step in range(4):
        f(torch.ones(4), step)
