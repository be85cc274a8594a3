"""Weights are saved over others, and a folder of them is removed."""

import shutil

import torch
from safetensors import safe_open
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

save_file(model.state_dict(), "model.safetensors", metadata={"step": "7"})
shutil.rmtree("checkpoints")
assert load_file("model.safetensors")["bias"].shape == (4,)
with safe_open("model.safetensors", framework="pt") as file:
    assert file.metadata() == {"step": "7"} and sorted(file.keys()) == ["bias", "weight"]
print("end safetensors_save_file")
