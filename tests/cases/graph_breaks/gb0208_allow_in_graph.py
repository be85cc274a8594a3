"""GB0208: torch.* op returned non-Tensor."""

import torch


@torch.compiler.allow_in_graph
def describe(x):
    return {"name", "of"}


@torch.compile
def f(x):
    y = x * 2
    found = describe(y)  # expect: GB0208 [describe(y)]
    return y + len(found)


if __name__ == "__main__":
    f(torch.ones(2))
