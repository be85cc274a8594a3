"""A compiled function is traced into the graph of its caller, without its own options."""

import torch


@torch.compile(dynamic=False)
def inner(x):
    return x.sin()


@torch.compile
def outer(x):
    return inner(x) + 1  # expect: perf-hint [inner(x)]


if __name__ == "__main__":
    outer(torch.ones(2))
    inner(torch.ones(2))
