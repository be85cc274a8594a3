"""A slice begins elsewhere."""

# cause: `start` was 2, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, start):
    return x[start:] * 2  # expect: recompile [start]


if __name__ == "__main__":
    for start in (2, 3):
        f(torch.ones(8), start)
