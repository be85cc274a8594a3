"""A function that is made anew, closed over another number."""

# cause: `n` was 2, is now any int
# advice: dynamic=True

import torch


def make(n):
    @torch.compile  # fix: @torch.compile(dynamic=True)
    def f(x):
        return x + n  # expect: recompile [n]

    return f


if __name__ == "__main__":
    for n in (2, 3):
        make(n)(torch.ones(4))
