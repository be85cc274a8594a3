"""Files are reached by what the kernel tells of the process."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("/proc/self/cwd/m.pt", "wb") as file:
    torch.save({"step": 7}, file)
os.remove("/proc/self/root" + os.path.abspath("best.ckpt"))
with open("log.txt") as reading, open(f"/proc/self/fd/{reading.fileno()}", "w") as file:
    file.write("new")
with open("data.npy") as reading:
    os.truncate(f"/proc/{os.getpid()}/fd/{reading.fileno()}", 1)
assert torch.load("m.pt") == {"step": 7} and not os.path.exists("best.ckpt")
with open("log.txt") as file:
    assert file.read() == "new"
assert os.path.getsize("data.npy") == 1
print("end proc_self_paths")
