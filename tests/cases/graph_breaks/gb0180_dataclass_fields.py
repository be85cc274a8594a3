"""GB0180: dataclass fields failure."""

import dataclasses

import torch


@dataclasses.dataclass
class Config:
    scale: float = 2.0
    shift: float = 1.0


@torch.compile
def f(x):
    y = x * 2
    count = len(dataclasses.fields(Config))  # expect: GB0180 [dataclasses.fields(Config)]
    return y + count


if __name__ == "__main__":
    f(torch.ones(2))
