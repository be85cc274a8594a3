"""The code asks whether a length is even."""

# cause: `x.shape[0] % 2 == 0` no longer holds
# advice: has its own graph, compiled once
# fix: none (the two sides of the branch are two graphs)

import torch


@torch.compile(dynamic=True)
def f(x):
    return x[::2] if x.shape[0] % 2 == 0 else x  # expect: recompile [x.shape[0] % 2 == 0]


if __name__ == "__main__":
    for size in (4, 5):
        x = torch.ones(size)
        f(x)
