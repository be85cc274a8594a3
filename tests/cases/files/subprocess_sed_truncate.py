"""Programs of the system change files in their place."""

import os
import subprocess

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

subprocess.check_call(["sed", "-i", "s/old/new/", "log.txt", "notes.txt"])
subprocess.check_call(["truncate", "-s", "0", "m.pt"])
subprocess.check_call(["touch", "best.ckpt"])
subprocess.check_call(["ln", "-sf", "best.ckpt", "link.pt"])
subprocess.check_call(["dd", "if=/dev/zero", "of=data.bin", "bs=1k", "count=1"], stderr=subprocess.DEVNULL)
with open("log.txt") as file:
    assert file.readline() == "new line\n"
assert (os.path.getsize("m.pt"), os.path.getsize("data.bin")) == (0, 1024)
assert os.readlink("link.pt") == "best.ckpt"
print("end subprocess_sed_truncate")
