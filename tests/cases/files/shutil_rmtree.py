"""Folders of checkpoints are removed."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

shutil.rmtree("out")
shutil.rmtree(os.path.join(os.environ["WAYS_OUTSIDE"], "runs"))
assert not os.path.exists("out")
os.makedirs("out")
assert os.listdir("out") == []
print("end shutil_rmtree")
