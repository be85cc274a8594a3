"""A run resumes from a checkpoint, trains on, saves over it, and removes the best one."""

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

state = torch.load("m.pt")
model.load_state_dict(state["model"])
first = state["step"] + 1
for step in range(first, first + 2):
    compiled(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, "m.pt")
os.unlink("best.ckpt")
assert torch.load("m.pt")["step"] == 3
assert not os.path.exists("best.ckpt")
print("end resume_and_save")
