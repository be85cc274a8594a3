"""A forked child saves a checkpoint and removes another."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

child = os.fork()
if not child:
    torch.save({"step": 7}, "m.pt")
    os.remove("best.ckpt")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert torch.load("m.pt") == {"step": 7}
assert not os.path.exists("best.ckpt")
print("end os_fork")
