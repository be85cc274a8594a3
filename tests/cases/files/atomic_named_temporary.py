"""A checkpoint is written into a named temporary file of the same folder and moved over the old one."""

import os
import tempfile

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

with tempfile.NamedTemporaryFile(dir=".", suffix=".pt", delete=False) as file:
    torch.save(model.state_dict(), file)
os.replace(file.name, "best.ckpt")
assert torch.load("best.ckpt")["weight"].shape == (4, 4)
assert not os.path.exists(file.name)
print("end atomic_named_temporary")
