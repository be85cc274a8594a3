"""The last checkpoint becomes the backup, and a new one takes its place."""

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

os.replace("m.pt", "m_bak.pt")
torch.save({"model": model.state_dict(), "step": 7}, "m.pt")
assert torch.load("m.pt")["step"] == 7
assert torch.load("m_bak.pt")["step"] == 1
print("end rotate_replace")
