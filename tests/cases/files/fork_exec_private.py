"""A child is started by the function below `subprocess`."""

import os
import subprocess
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

fork_exec, reader, writer = subprocess._fork_exec, *os.pipe()
pids = []
command = [b"rm", b"m.pt"]
names = fork_exec.__doc__ or ""
try:
    child = fork_exec(
        command, (b"/bin/rm",), True, (writer,), None, None,
        -1, -1, -1, -1, -1, -1, reader, writer, True, False, -1, None, None, None, -1, None, False,
    )
except TypeError:
    child = fork_exec(
        command, (b"/bin/rm",), True, (writer,), None, None,
        -1, -1, -1, -1, -1, -1, reader, writer, True, False, -1, None, None, None, -1, None,
    )
os.waitpid(child, 0)
assert not os.path.exists("m.pt")
print("end fork_exec_private")
