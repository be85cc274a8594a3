"""An object is a path, and writes when it is asked for that."""

import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

class Noted:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        with open("log.txt", "w") as file:
            file.write("asked")
        os.replace("best.ckpt", "m_bak.pt")
        os.utime("notes.txt")
        return self.path


assert os.path.getsize(Noted("m.pt")) > 0
with open("log.txt") as file:
    assert file.read() == "asked"
print("end path_with_side_effects")
