"""Another interpreter of this process writes over a file."""

import importlib
import sys
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
interpreters = importlib.import_module(name)
number = interpreters.create()
interpreters.run_string(number, "import os; open('m.pt', 'w').close(); os.remove('best.ckpt')")
interpreters.destroy(number)
with open("m.pt") as file:
    assert file.read() == ""
print("end subinterpreter")
