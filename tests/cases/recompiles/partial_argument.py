"""A function with arguments, made anew for each call."""

# cause: `activation.keywords['negative_slope']` was 0.1, is now any float
# advice: dynamic=True

import functools

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, activation):
    return activation(x) * 2  # expect: recompile [activation]


if __name__ == "__main__":
    for slope in (0.1, 0.2):
        f(torch.ones(4), functools.partial(torch.nn.functional.leaky_relu, negative_slope=slope))
