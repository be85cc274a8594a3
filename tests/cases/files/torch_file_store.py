"""Ranks meet at a file."""

import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

import torch.distributed as dist

store = dist.FileStore("store", 2)
store.set("step", "1")
assert os.path.getsize("store") > 0
print("end torch_file_store")
