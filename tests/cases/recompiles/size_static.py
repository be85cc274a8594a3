"""Two sizes of a function that is compiled for each size on purpose."""

# cause: size of `x` at dimension 0 was 10, is now 12
# advice: dynamic=True

import torch


@torch.compile(dynamic=False)  # fix: @torch.compile(dynamic=True)
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (10, 12):
        x = torch.ones(size)
        f(x)
