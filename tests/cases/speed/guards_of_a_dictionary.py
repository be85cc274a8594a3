"""Thousands of guards on the values of a dictionary."""

import torch

torch.set_num_threads(1)
SCALES = {f"layer {number}": float(number) for number in range(3000)}


@torch.compile
def scale(x):  # slowest: guards
    total = 0.0
    for value in SCALES.values():
        total += value
    return x * total


x = torch.ones(16)
for _ in range(6):
    scale(x)
