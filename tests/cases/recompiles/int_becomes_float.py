"""A whole number, then a fraction."""

# cause: `scale` was 2, is now any float
# advice: float(scale)

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (2, 0.5):
        f(torch.ones(4), scale)  # fix: f(torch.ones(4), float(scale))
