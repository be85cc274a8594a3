"""Tcl writes over a file and removes another."""

import tkinter
import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

tcl = tkinter.Tcl()
tcl.eval('set file [open m.pt w]; puts $file new; close $file; file delete best.ckpt')
with open("m.pt") as file:
    assert file.read() == "new\n"
assert not os.path.exists("best.ckpt")
print("end tcl_file")
