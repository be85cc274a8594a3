"""The link to the latest checkpoint is replaced by one to a new checkpoint."""

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

torch.save({"model": model.state_dict(), "step": 7}, "m_7.pt")
os.unlink("link.pt")
os.symlink("m_7.pt", "link.pt")
assert os.readlink("link.pt") == "m_7.pt" and torch.load("link.pt")["step"] == 7
os.symlink("best.ckpt", "link.pt.new")
os.replace("link.pt.new", "link.pt")
assert os.readlink("link.pt") == "best.ckpt"
print("end latest_link")
