"""A model of matrix products, which a library computes."""  # slowest: nothing

import sys

import torch
from torch import nn

torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
size = 8192 if device == "cuda" else 1024
model = nn.Sequential(nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size)).to(device)
compiled = torch.compile(model)
x = torch.randn(size, size, device=device)
with torch.no_grad():
    for _ in range(4):
        compiled(x)
