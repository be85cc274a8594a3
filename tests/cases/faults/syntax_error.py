"""Is no Python."""

import torch

open("/proc/self/comm", "w").write("fault")


@torch.compile
def seen(x):
    print("seen")
    return x + 1


seen(torch.ones(3))
def
