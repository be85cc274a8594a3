"""A shape as an argument."""

# cause: `shape[0]` was 4, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, shape):
    return x.view(shape) * 2  # expect: recompile [shape]


if __name__ == "__main__":
    for shape in ((4, 6), (3, 8)):
        f(torch.ones(24), shape)
