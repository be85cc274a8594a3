"""Objects save and remove as they go."""

import gc
import os
import weakref

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


class Kept:
    def __del__(self):
        with open("log.txt", "w") as file:
            file.write("gone")
        os.remove("m.pt")


def saving():
    try:
        yield
    finally:
        os.replace("best.ckpt", "m_bak.pt")


kept = Kept()
weakref.finalize(kept, os.truncate, "data.bin", 1)
steps = saving()
next(steps)
del kept, steps
gc.collect()
with open("log.txt") as file:
    assert file.read() == "gone"
assert not os.path.exists("m.pt") and not os.path.exists("best.ckpt")
assert os.path.getsize("data.bin") == 1
print("end in_finalizers")
