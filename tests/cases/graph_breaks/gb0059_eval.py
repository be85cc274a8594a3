"""GB0059: Failed to trace builtin operator."""

import torch


@torch.compile
def f(x):
    y = x * 2
    z = eval("y + 1", {"y": y})  # expect: GB0059 [eval("y + 1", {"y": y})]
    return z * 2


if __name__ == "__main__":
    f(torch.ones(2))
