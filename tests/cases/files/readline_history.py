"""The lines of a session go into a file."""

import readline
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

readline.add_history("train()")
readline.write_history_file("notes.txt")
readline.append_history_file(1, "log.txt")
with open("log.txt") as file:
    assert file.read().endswith("train()\n")
print("end readline_history")
