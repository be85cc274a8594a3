"""A checkpoint is saved over the old one, over a link to it, and over another name of it."""

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

torch.save({"model": model.state_dict(), "step": 2}, "m.pt")
assert torch.load("m.pt")["step"] == 2
torch.save({"model": model.state_dict(), "step": 3}, "link.pt")
assert os.path.islink("link.pt") and torch.load("link.pt")["step"] == 3
torch.save({"model": model.state_dict(), "step": 4}, "hard.pt")
assert torch.load("hard.pt")["step"] == 4
print("end torch_save_over")
