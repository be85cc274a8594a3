"""A model of matrix products, which a library computes."""  # slowest: nothing

import torch
from torch import nn

model = nn.Sequential(nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, 8192)).cuda()
compiled = torch.compile(model)
x = torch.randn(8192, 8192, device="cuda")
with torch.no_grad():
    for _ in range(4):
        compiled(x)
