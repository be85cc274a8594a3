"""Accelerate saves its state after each step and removes all but the last two."""

import os

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(
    cpu=True, project_config=ProjectConfiguration("out", automatic_checkpoint_naming=True, total_limit=2)
)
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = DataLoader(TensorDataset(torch.randn(8, 4)), 2)
model, optimizer, data = accelerator.prepare(model, optimizer, data)
compiled = torch.compile(model)

os.makedirs("out/checkpoints", exist_ok=True)
os.replace("checkpoints/step_1", "out/checkpoints/checkpoint_0")
for step, (batch,) in enumerate(data):
    accelerator.backward(compiled(batch).square().mean())
    optimizer.step()
    optimizer.zero_grad()
    accelerator.project_configuration.iteration = step + 1
    accelerator.save_state()
assert sorted(os.listdir("out/checkpoints")) == ["checkpoint_3", "checkpoint_4"]
accelerator.load_state("out/checkpoints/checkpoint_4")
print("end accelerate_rotation")
