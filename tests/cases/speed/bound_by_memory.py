"""A model that moves memory, which nothing makes faster."""  # slowest: nothing

import torch

torch.set_num_threads(1)


@torch.compile
def scale(x):
    return x * 2.0


x = torch.randn(1 << 26)
with torch.no_grad():
    for _ in range(4):
        scale(x)
