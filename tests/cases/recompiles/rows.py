"""A loop over the rows of a tensor."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: operations on the whole tensor

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return [row * 2 for row in x]  # fix: return x * 2  # operations on the whole tensor  # expect: recompile [x]


if __name__ == "__main__":
    for size in (4, 6):
        x = torch.ones(size, 3)
        f(x)
