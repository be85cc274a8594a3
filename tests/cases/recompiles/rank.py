"""A sample without its batch."""

# cause: rank of `x` was 2, is now 1
# advice: x.unsqueeze(0)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    f(torch.ones(1, 4))
    x = torch.ones(4)
    f(x)  # fix: f(x.unsqueeze(0))
