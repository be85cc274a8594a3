"""A child makes namespaces of its own, and mounts folders there."""

import subprocess
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

script = """
mount --bind out empty && echo new > empty/log.txt
chroot . /bin/true
python3 -c 'import os; os.utime("m.pt"); os.chmod("best.ckpt", 0o600); os.setxattr("log.txt", "user.a", b"b")'
rm notes.txt
"""
subprocess.run(["unshare", "-r", "-m", "sh", "-c", script], stderr=subprocess.DEVNULL)
with open("data.bin", "wb"):
    pass
print("end child_mounts")
