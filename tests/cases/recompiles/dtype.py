"""A tensor of another dtype."""

# cause: dtype of `x` was torch.float32, is now torch.float64
# advice: x.to(torch.float32)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4), torch.ones(4, dtype=torch.float64)):
        f(x)  # fix: f(x.to(torch.float32))
