"""The code takes another way for long inputs."""

# cause: size of `x` at dimension 0 was 4, is now 16
# advice: tests this size
# fix: none (the two sides of the branch are two graphs)

import torch


@torch.compile
def f(x):
    if x.shape[0] > 8:  # expect: recompile [x]
        return x.sum()
    return x * 2


if __name__ == "__main__":
    for size in (4, 16):
        x = torch.ones(size)
        f(x)
