"""Closes every descriptor that it has."""

import os

import torch

open("/proc/self/comm", "w").write("fault")


@torch.compile
def seen(x):
    print("seen")
    return x + 1


seen(torch.ones(3))
os.closerange(0, 1024)
seen(torch.ones(3, 3))
