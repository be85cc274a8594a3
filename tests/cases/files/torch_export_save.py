"""An exported program is saved over another one."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

torch.export.save(torch.export.export(model, (torch.randn(2, 4),)), "exported.pt2")
assert os.path.getsize("exported.pt2") > 0
assert torch.export.load("exported.pt2").module()(torch.randn(2, 4)).shape == (2, 4)
print("end torch_export_save")
