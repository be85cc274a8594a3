"""Weights in a list."""

# cause: `weights[1]` was 1.5, is now any float
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, weights):
    return x * weights[0] + weights[1]  # expect: recompile [weights[1]]


if __name__ == "__main__":
    for weights in ([0.5, 1.5], [0.5, 2.5]):
        f(torch.ones(4), weights)
