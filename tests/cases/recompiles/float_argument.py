"""Another fraction as an argument."""

# cause: `scale` was 0.5, is now any float
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (0.5, 0.25):
        f(torch.ones(4), scale)
