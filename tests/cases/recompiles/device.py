"""A tensor on another device."""

# cause: device of `x` was meta, is now cpu
# advice: none
# fix: none (a tensor on "meta" has no data)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4, device="meta"), torch.ones(4)):
        f(x)
