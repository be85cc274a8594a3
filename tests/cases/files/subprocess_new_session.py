"""A child leaves for a session and a group of its own, and its child outlives it."""

import os
import subprocess

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

COMMAND = "(rm -f m.pt best.ckpt; echo done > log.txt; echo removed) &"
# Its output ends when the last of them does.
output = subprocess.run(
    ["sh", "-c", COMMAND], start_new_session=True, stdout=subprocess.PIPE, check=True
).stdout
assert output == b"removed\n"
with open("log.txt") as log:
    assert log.read() == "done\n"
assert not os.path.exists("m.pt") and not os.path.exists("best.ckpt")
print("end subprocess_new_session")
