"""Files come out of a cache of fsspec, and are written over through it."""

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

cache = os.path.join(os.path.expanduser("~"), ".cache", "fsspec")
path = os.path.abspath("m.pt")
with fsspec.open(f"simplecache::file://{path}", "rb", simplecache={"cache_storage": cache}) as file:
    assert torch.load(file)["step"] == 1
with fsspec.open(f"filecache::file://{path}", "rb", filecache={"cache_storage": cache}) as file:
    assert torch.load(file)["step"] == 1
with fsspec.open(f"simplecache::file://{path}", "wb", simplecache={"cache_storage": cache}) as file:
    torch.save({"step": 7}, file)
assert torch.load("m.pt") == {"step": 7}
assert os.listdir(cache)
print("end fsspec_cache")
