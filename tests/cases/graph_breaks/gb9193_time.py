"""GB9193: Call to a time function."""

import time

import torch


@torch.compile
def f(x):
    start = time.perf_counter()  # expect(<2.15): GB0007 [time.perf_counter()]  # expect(>=2.15): GB9193 [time.perf_counter()]
    y = x * 2
    return y, start


if __name__ == "__main__":
    f(torch.ones(2))
