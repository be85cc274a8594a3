"""Another key is looked for in another dict: the answer is the same."""

# cause: `cache` had the key 1, now lacks it
# advice: `layer in cache` before the call

import torch


@torch.compile
def f(x, cache, layer):  # fix: def f(x, found):
    if layer in cache:  # fix: if found:  # expect: recompile [cache]
        x = x * 2
    return x + 1


if __name__ == "__main__":
    x = torch.ones(4)
    for cache, layer in (({1: "a"}, 1), ({2: "b"}, 2)):
        # `layer in cache` ahead of the call
        f(x, cache, layer)  # fix: f(x, layer in cache)
