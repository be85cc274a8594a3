"""A scripted model is saved as a flat buffer."""

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

scripted = torch.jit.script(nn.ReLU())
torch.jit._serialization.save_jit_module_to_flatbuffer(scripted, "m.pt")
torch._C._save_jit_module(scripted._c, "best.ckpt", {})
with open("m.pt", "rb") as one, open("best.ckpt", "rb") as two:
    assert one.read()[4:8] == two.read()[4:8]
print("end torch_jit_flatbuffer")
