"""A shelf on a database of files is changed."""

import dbm.dumb
import shelve

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with shelve.Shelf(dbm.dumb.open("shelf", "c")) as shelf:
    shelf["step"] = 7
    shelf["more"] = list(range(100))
with shelve.Shelf(dbm.dumb.open("shelf", "r")) as shelf:
    assert shelf["step"] == 7 and len(shelf["more"]) == 100
dbm.dumb.open("shelf", "n").close()
with dbm.dumb.open("shelf", "r") as emptied:
    assert len(emptied) == 0
print("end shelve_update")
