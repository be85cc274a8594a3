"""The last checkpoint is saved when the program is over."""

import atexit
import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


@atexit.register
def save():
    torch.save({"step": 7}, "m.pt")
    os.replace("best.ckpt", "m_bak.pt")
    with open("log.txt", "w") as file:
        file.write("over")
    assert torch.load("m.pt") == {"step": 7} and not os.path.exists("best.ckpt")
    print("end at_exit")
