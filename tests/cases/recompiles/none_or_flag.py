"""No flag, then one."""

# cause: `causal` was None, is now True
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, causal=None):
    return x.tril() if causal else x * 2  # expect: recompile [causal]


if __name__ == "__main__":
    for causal in (None, True):
        f(torch.ones(4, 4), causal)
