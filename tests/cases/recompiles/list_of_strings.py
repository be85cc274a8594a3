"""A list of names that grows."""

# cause: length of `names` was 1, is now 2
# advice: has its own graph, compiled once
# fix: none (each length is a graph of its own)

import torch


@torch.compile
def f(x, names):
    return {name: x * 2 for name in names}  # expect: recompile [names]


if __name__ == "__main__":
    for names in (["a"], ["a", "b"]):
        f(torch.ones(4), names)
