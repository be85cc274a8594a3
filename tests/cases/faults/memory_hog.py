"""Takes more memory than it may, but no more than a small machine has."""

import torch

open("/proc/self/comm", "w").write("fault")


@torch.compile
def seen(x):
    print("seen")
    return x + 1


seen(torch.ones(3))
blocks = [b"x" * (64 << 20) for _ in range(48)]
