"""A function that is made anew, closed over another fraction."""

# cause: `scale` was 0.5, is now any float
# advice: dynamic=True

import torch


def make(scale):
    @torch.compile  # fix: @torch.compile(dynamic=True)
    def f(x):
        return x * scale  # expect: recompile [scale]

    return f


if __name__ == "__main__":
    for scale in (0.5, 0.25):
        make(scale)(torch.ones(4))
