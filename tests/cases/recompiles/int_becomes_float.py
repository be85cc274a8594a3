"""A whole number, then a fraction."""

# cause: `scale` was 2, is now any float
# advice: torch.tensor(scale

import torch


@torch.compile
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (2, 0.5):
        f(torch.ones(4), scale)  # fix: f(torch.ones(4), torch.tensor(scale, dtype=torch.float32))
