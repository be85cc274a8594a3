"""A database is written into a file by a statement of its own."""

import os
import sqlite3
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

connection = sqlite3.connect(":memory:", isolation_level=None)
connection.execute("CREATE TABLE runs (name TEXT)")
with open("notes.txt", "w"):
    pass
connection.execute("VACUUM INTO 'notes.txt'")
connection.close()
assert os.path.getsize("notes.txt") > 0
print("end sqlite_vacuum_into")
