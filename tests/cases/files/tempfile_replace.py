"""A temporary file replaces settings, and one of another run is removed."""

import json
import os
import tempfile

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

descriptor, name = tempfile.mkstemp(dir=".", text=True)
with open(descriptor, "w") as file:
    json.dump({"rate": 0.2}, file)
os.replace(name, "config.json")
with open("config.json") as file:
    assert json.load(file) == {"rate": 0.2}
stale = os.path.join(tempfile.gettempdir(), "m.pt")
os.remove(stale)
with tempfile.TemporaryDirectory() as folder:
    torch.save({"step": 7}, os.path.join(folder, "m.pt"))
    os.replace(os.path.join(folder, "m.pt"), stale)
assert torch.load(stale) == {"step": 7}
print("end tempfile_replace")
