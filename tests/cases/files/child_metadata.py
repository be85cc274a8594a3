"""Children change modes and times of files."""

import os
import stat
import subprocess
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

subprocess.check_call("chmod 600 m.pt best.ckpt; chmod -R 700 checkpoints; chmod 700 .", shell=True)
subprocess.check_call("touch log.txt; touch -d 2001-01-01 notes.txt; chown $(id -u) data.bin", shell=True)
code = "chmod 0600, 'm_bak.pt'; utime 1, 1, 'config.json'"
subprocess.check_call(["perl", "-e", code])
assert stat.S_IMODE(os.stat("m.pt").st_mode) in (0o600, 0o644)
os.remove("metrics.csv")
print("end child_metadata")
