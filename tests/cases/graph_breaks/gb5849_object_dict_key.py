"""GB5849: non-constant key in object __dict__."""

import torch


class Config:
    scale = 2


@torch.compile
def f(x, config):
    y = x * 2
    config.__dict__ = {y: 3}
    return y * config.scale + len(config.__dict__)  # expect: GB5849 [config.scale]


if __name__ == "__main__":
    f(torch.ones(2), Config())
