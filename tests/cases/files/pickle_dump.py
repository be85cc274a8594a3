"""A pickled state is written over, and so is one of a model."""

import pickle

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("state.pkl", "wb") as file:
    pickle.dump({"step": 7, "names": [name for name, _ in model.named_parameters()]}, file)
with open("state.pkl", "rb") as file:
    assert pickle.load(file) == {"step": 7, "names": ["weight", "bias"]}
print("end pickle_dump")
