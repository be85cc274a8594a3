"""A checkpoint is written beside the old one, where a stale temporary lies, and moved over it."""

import os

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

with open("m.pt.tmp", "wb") as file:
    torch.save({"model": model.state_dict(), "step": 7}, file)
    file.flush()
    os.fsync(file.fileno())
os.replace("m.pt.tmp", "m.pt")
assert not os.path.exists("m.pt.tmp")
assert torch.load("m.pt")["step"] == 7
print("end atomic_tmp_replace")
