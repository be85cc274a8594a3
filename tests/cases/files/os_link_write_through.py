"""A file gets another name, and is changed by that."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.link("m.pt", "same.pt")
torch.save({"step": 7}, "same.pt")
assert torch.load("m.pt") == {"step": 7} and os.path.samefile("m.pt", "same.pt")
os.symlink(os.path.abspath("data.npy"), "same.npy")
with open("same.npy", "wb") as file:
    file.write(b"new")
with open("data.npy", "rb") as file:
    assert file.read() == b"new"
os.remove("hard.pt")
assert torch.load("m.pt") == {"step": 7}
print("end os_link_write_through")
