"""Accelerate saves a model whose layers are of one size over other weights."""

import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from torch import nn

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
compiled = torch.compile(model)
accelerator.backward(compiled(torch.randn(2, 4)).sum())

accelerator.save_model(model, ".")
assert sorted(load_file("model.safetensors")) == ["0.bias", "0.weight", "1.bias", "1.weight"]
print("end accelerate_save_model")
