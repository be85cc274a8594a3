"""GB0147: Unsupported function call."""

import datetime

import torch


@torch.compile
def f(x):
    y = x * 2
    wait = datetime.timedelta(seconds=3)  # expect: GB0147 [datetime.timedelta(seconds=3)]
    return y * wait.seconds


if __name__ == "__main__":
    f(torch.ones(2))
