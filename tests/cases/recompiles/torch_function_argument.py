"""A function of torch as an argument."""

# cause: `activation` is no longer the same object (builtin_function_or_method)
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, activation):
    return activation(x) * 2  # expect: recompile [activation]


if __name__ == "__main__":
    for activation in (torch.relu, torch.sigmoid):
        f(torch.ones(4), activation)
