"""GB0142: Unsupported context manager."""

import threading

import torch

LOCK = threading.Lock()


@torch.compile
def f(x):
    y = x * 2
    with LOCK:  # expect: GB0142 [LOCK]
        y = y + 1
    return y.sin()


if __name__ == "__main__":
    f(torch.ones(2))
