"""Another number as an argument."""

# cause: `n` was 3, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, n):
    return x + n  # expect: recompile [n]


if __name__ == "__main__":
    for n in (3, 4):
        f(torch.ones(4), n)
