"""Accelerate saves its state over an older one, and loads it."""

import os

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

accelerator = Accelerator(cpu=True)
data = DataLoader(TensorDataset(torch.randn(8, 4)), 2)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
for safe in (True, False):
    for (batch,) in data:
        accelerator.backward(compiled(batch).square().mean())
        optimizer.step()
        optimizer.zero_grad()
    accelerator.save_state("checkpoints/step_1", safe_serialization=safe)
    accelerator.load_state("checkpoints/step_1")
accelerator.save_model(model, "out")
accelerator.save(accelerator.get_state_dict(model), "m.pt")
os.remove("best.ckpt")
assert torch.load("m.pt")["weight"].shape == (4, 4)
assert {"model.safetensors", "optimizer.bin", "pytorch_model.bin"} <= set(os.listdir("checkpoints/step_1"))
assert os.path.getsize("out/model.safetensors") > 0
print("end accelerate_state")
