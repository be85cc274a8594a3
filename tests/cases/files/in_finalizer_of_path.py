"""An object writes when it is collected, whatever runs at that time."""

import gc
import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

class Late:
    def __init__(self):
        self.own = self

    def __del__(self):
        with open("log.txt", "w") as file:
            file.write("late")
        os.utime("m.pt")


gc.set_threshold(1)
for number in range(50):
    Late()
    with open(f"out/{number}.txt", "w") as file:
        file.write("new")
    os.rename(f"out/{number}.txt", "out/log.txt")
gc.set_threshold(700)
with open("log.txt") as file:
    assert file.read() == "late"
print("end in_finalizer_of_path")
