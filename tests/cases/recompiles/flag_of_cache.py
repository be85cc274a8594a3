"""A flag says whether to return a cache."""

# cause: `use_cache` was True, is now False
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, use_cache):
    key = x * 2
    return (x.sin(), key) if use_cache else (x.sin(), None)  # expect: recompile [use_cache]


if __name__ == "__main__":
    for use_cache in (True, False):
        f(torch.ones(4), use_cache)
