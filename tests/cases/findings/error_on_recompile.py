"""A recompilation where the program forbids it: the exception that it gets."""

import torch


@torch.compile
def f(x):
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
    with torch._dynamo.config.patch(error_on_recompile=True):
        f(torch.ones(3))  # expect: target-error [f(torch.ones(3))]
