"""GB7637: non-string key in object __dict__."""

import torch


class Config:
    scale = 2


@torch.compile
def f(x, config):
    y = x * 2
    config.__dict__ = {1: 3}
    return y * config.scale + len(config.__dict__)  # expect: GB7637 [config.scale]


if __name__ == "__main__":
    f(torch.ones(2), Config())
