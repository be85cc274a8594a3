"""GB0236: Invalid input type for nonstrict_trace-ed function."""

import torch


class Config:
    scale = 2


@torch._dynamo.nonstrict_trace
def scaled(x, config):
    return x * config.scale


@torch.compile
def f(x, config):
    y = x * 2
    return scaled(y, config)  # expect: GB0236 [scaled(y, config)]


if __name__ == "__main__":
    f(torch.ones(2), Config())
