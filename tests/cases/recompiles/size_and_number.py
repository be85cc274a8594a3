"""A size and a number at once."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, scale):
    return x * scale  # expect: recompile [x]


if __name__ == "__main__":
    for n, scale in ((4, 2.5), (6, 3.5)):
        x = torch.ones(n)
        f(x, scale)
