"""Files are written in a transaction of fsspec, which moves them to their places at its end."""

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

files = fsspec.filesystem("file", auto_mkdir=True)
with files.transaction, files.open(os.path.abspath("m.pt"), "wb") as file:
    torch.save({"step": 7}, file)
with files.open(os.path.abspath("m.pt"), "rb") as file:
    assert torch.load(file) == {"step": 7}
print("end fsspec_transaction")
