"""A scripted model is saved over others, by function and by method."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

scripted = torch.jit.script(nn.ReLU())
torch.jit.save(scripted, "scripted.pt")
scripted.save("m.pt")
for name in ("scripted.pt", "m.pt"):
    assert "relu" in torch.jit.load(name).code
    assert os.path.getsize(name) > 0
print("end torch_jit_save")
