"""A list of other numbers."""

# cause: `factors[1]` was 3, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, factors):
    return [x * factor for factor in factors]  # expect: recompile [factors]


if __name__ == "__main__":
    for factors in ([2, 3], [2, 4]):
        f(torch.ones(4), factors)
