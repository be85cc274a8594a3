"""Children are started by the calls below `subprocess`."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

child = os.posix_spawn("/bin/rm", ["rm", "m.pt"], os.environ)
assert os.waitpid(child, 0)[1] == 0
opened = (os.POSIX_SPAWN_OPEN, 1, "log.txt", os.O_WRONLY | os.O_TRUNC, 0o644)
child = os.posix_spawnp("echo", ["echo", "new"], os.environ, file_actions=[opened])
assert os.waitpid(child, 0)[1] == 0
assert os.spawnlp(os.P_WAIT, "rm", "rm", "best.ckpt") == 0
with open("log.txt") as file:
    assert file.read() == "new\n"
assert not os.path.exists("m.pt") and not os.path.exists("best.ckpt")
print("end os_posix_spawn")
