"""A setting of a data class."""

# cause: `config.scale` was 0.5, is now any float
# advice: dynamic=True

import dataclasses

import torch


@dataclasses.dataclass
class Config:
    scale: float


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, config):
    return x * config.scale  # expect: recompile [config.scale]


if __name__ == "__main__":
    for scale in (0.5, 0.25):
        config = Config(scale)
        f(torch.ones(4), config)
