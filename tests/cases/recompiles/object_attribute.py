"""A number on an object of the program's own."""

# cause: `config.steps` was 2, is now any int
# advice: dynamic=True

import torch


class Config:
    steps = 2


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, config):
    return x + config.steps  # expect: recompile [config.steps]


if __name__ == "__main__":
    config = Config()
    for config.steps in (2, 3):
        f(torch.ones(4), config)
