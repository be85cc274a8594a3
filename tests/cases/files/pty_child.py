"""A child with a terminal of its own changes files."""

import os
import pty
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

child, terminal = pty.fork()
if not child:
    os.execlp("sh", "sh", "-c", "echo new > log.txt; rm m.pt")
os.waitpid(child, 0)
with open("log.txt") as file:
    assert file.read() == "new\n"
assert not os.path.exists("m.pt")
print("end pty_child")
