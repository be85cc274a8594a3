"""A loop over a size is unrolled, which makes a number of a dynamic size."""

# cause: size of `x` at dimension 0 was 3, is now 4
# advice: uses `x.shape[0]` as a Python number

import torch


@torch.compile(dynamic=True)
def f(x):
    return sum(x[i] for i in range(x.shape[0]))  # fix: return x.sum(0)  # expect: recompile [x]


if __name__ == "__main__":
    for size in (3, 4):
        f(torch.ones(size, 2))
