"""A model of matrix products, which a library computes."""  # slowest: nothing

import torch
from torch import nn

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024))
compiled = torch.compile(model)
x = torch.randn(1024, 1024)
with torch.no_grad():
    for _ in range(4):
        compiled(x)
