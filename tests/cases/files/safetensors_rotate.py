"""Weights are saved beside the old ones and moved over them."""

import os

import torch
from safetensors.torch import load_file, save_file
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

weights = load_file("model.safetensors")
model.load_state_dict(weights)
compiled(torch.randn(2, 4)).sum().backward()
optimizer.step()
os.replace("model.safetensors", "model.old.safetensors")
save_file(model.state_dict(), "model.safetensors.tmp")
os.replace("model.safetensors.tmp", "model.safetensors")
os.remove("model.old.safetensors")
assert load_file("model.safetensors")["weight"].shape == (4, 4)
print("end safetensors_rotate")
