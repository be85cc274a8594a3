"""GB0251: Unsupported output type for nonstrict_trace-ed function."""

import torch


class Config:
    scale = 2


CONFIG = Config()


@torch._dynamo.nonstrict_trace
def lookup(x):
    return CONFIG


@torch.compile
def f(x):
    y = x * 2
    return y * lookup(y).scale  # expect: GB0251 [lookup(y)]


if __name__ == "__main__":
    f(torch.ones(2))
