"""Paths are bytes, and objects that stand for paths."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


class Name:
    def __fspath__(self):
        return b"best.ckpt"


with open(b"m.pt", "wb") as file:
    file.write(b"new")
os.remove(Name())
os.replace(os.fsencode("data.npy"), os.path.join(os.getcwdb(), b"data.npz"))
with open(b"m.pt", "rb") as file:
    assert file.read() == b"new"
assert not os.path.exists("best.ckpt") and not os.path.exists("data.npy")
print("end bytes_paths")
