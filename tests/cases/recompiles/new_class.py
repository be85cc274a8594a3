"""A class that is made anew for each call."""

# cause: `config` is no longer the same object (make.<locals>.Config)
# advice: config =

import torch


def make():
    class Config:
        steps = 2

    return Config


@torch.compile
def f(x, config):
    return x + config.steps  # expect: recompile [config]


if __name__ == "__main__":
    # fix: config = make()
    for _ in range(2):
        config = make()  # fix: pass
        f(torch.ones(4), config)
