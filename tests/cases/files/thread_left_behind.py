"""A thread that the program does not wait for saves a checkpoint at its end."""

import os
import threading

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

ready = threading.Event()


def save():
    ready.wait()
    torch.save({"step": 7}, "m.pt")
    os.remove("best.ckpt")
    assert torch.load("m.pt") == {"step": 7} and not os.path.exists("best.ckpt")
    print("end thread_left_behind")


threading.Thread(target=save).start()
ready.set()
