"""Settings are read, changed and written back."""

import json

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("config.json") as file:
    config = json.load(file)
config["rate"] /= 2
with open("config.json", "w") as file:
    json.dump(config, file, indent=2)
with open("config.json") as file:
    assert json.load(file) == {"rate": 0.05}
print("end json_dump")
