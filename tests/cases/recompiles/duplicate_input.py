"""The same tensor twice, where the first call passed two."""

# cause: `x` and `y` are now the same tensor
# advice: y.clone()

import torch


@torch.compile
def f(x, y):
    return x + y  # expect: recompile [x]


if __name__ == "__main__":
    x, y = torch.ones(4), torch.ones(4)
    f(x, y)
    y = x
    f(x, y)  # fix: f(x, y.clone())
