"""No list, then one."""

# cause: `others` was None, is now type list
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, others=None):
    return x * 2 if others is None else x + sum(others)  # expect: recompile [others]


if __name__ == "__main__":
    for others in (None, [torch.ones(4)]):
        f(torch.ones(4), others)
