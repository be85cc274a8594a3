"""No number, then one."""

# cause: `maximum` was None, is now 2.5
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, maximum=None):
    return x * 2 if maximum is None else x.clamp(max=maximum)  # expect: recompile [maximum]


if __name__ == "__main__":
    for maximum in (None, 2.5):
        f(torch.ones(4), maximum)
