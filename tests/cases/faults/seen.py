"""What each of these programs does before it goes wrong: it takes a name, and has a finding."""

import torch

open("/proc/self/comm", "w").write("fault")


@torch.compile
def seen(x):
    print("seen")
    return x + 1
