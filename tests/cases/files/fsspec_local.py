"""A file system of fsspec writes, moves and removes."""

import os

import fsspec
import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

files = fsspec.filesystem("file")
with files.open(os.path.abspath("log.txt"), "w") as file:
    file.write("new")
files.mv(os.path.abspath("m.pt"), os.path.abspath("m_bak.pt"))
files.rm(os.path.abspath("checkpoints"), recursive=True)
files.pipe(os.path.abspath("data.npy"), b"new")
files.cp_file(os.path.abspath("config.json"), os.path.abspath("metrics.csv"))
assert files.cat(os.path.abspath("log.txt")) == b"new" and files.cat(os.path.abspath("data.npy")) == b"new"
assert not files.exists(os.path.abspath("m.pt")) and not os.path.exists("checkpoints")
assert torch.load("m_bak.pt")["step"] == 1
print("end fsspec_local")
