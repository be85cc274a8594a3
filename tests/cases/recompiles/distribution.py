"""A distribution of other parameters."""

# cause: size of `x` at dimension 0 was 3, is now 5
# advice: dynamic=True

import torch
from torch.distributions import Normal


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(normal, x):
    return normal.log_prob(x)  # expect: recompile [x]


if __name__ == "__main__":
    for size in (3, 5):
        normal = Normal(torch.zeros(size), torch.ones(size), validate_args=False)
        f(normal, torch.ones(size))
