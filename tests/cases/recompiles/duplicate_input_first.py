"""The same tensor twice in the first call only."""

# cause: `x` and `y` are no longer the same object
# advice: y.clone()

import torch


@torch.compile
def f(x, y):
    return x + y  # expect: recompile [x]


if __name__ == "__main__":
    x = torch.ones(4)
    for y in (x, torch.ones(4)):
        f(x, y)  # fix: f(x, y.clone())
