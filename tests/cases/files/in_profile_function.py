"""A function that sees all calls writes at each."""

import os
import sys
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

calls = []


def note(frame, event, argument):
    sys.setprofile(None)
    calls.append(event)
    if len(calls) < 200:
        with open("log.txt", "w") as file:
            file.write(event)
        os.utime("m.pt")
    sys.setprofile(note)


sys.setprofile(note)
with open("notes.txt", "a") as file:
    file.write("new")
os.path.exists("m.pt")
sys.setprofile(None)
with open("log.txt") as file:
    assert file.read()
print("end in_profile_function")
