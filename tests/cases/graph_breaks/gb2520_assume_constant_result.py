"""GB2520: assume_constant_result argument conversion failed."""

import torch


@torch._dynamo.assume_constant_result
def total(items):
    return len(items)


@torch.compile
def f(x, names):
    y = x * 2
    return y * total([y, x])  # expect: GB2520 [total([y, x])]


if __name__ == "__main__":
    f(torch.ones(2), ["a"])
