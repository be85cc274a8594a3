"""GB0256: User-defined object with non-function __getattr__."""

import torch


class Default:
    def __call__(self, name):
        return 2


class Config:
    __getattr__ = Default()


@torch.compile
def f(x, config):
    y = x * 2
    return y * config.scale  # expect: GB0256 [config.scale]


if __name__ == "__main__":
    f(torch.ones(2), Config())
