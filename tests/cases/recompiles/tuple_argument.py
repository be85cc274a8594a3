"""A shape as a tuple of numbers."""

# cause: `shape[0]` was 3, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, shape):
    return x.reshape(shape) + 1  # expect: recompile [shape]


if __name__ == "__main__":
    f(torch.ones(12), (3, 4))
    f(torch.ones(12), (2, 6))
