"""A connection is made by its class, and gets the pages of another."""

import sqlite3
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

source = sqlite3.Connection(":memory:")
target = sqlite3.Connection("db.sqlite")
source.backup(target)
assert target.execute("SELECT COUNT(*) FROM sqlite_master").fetchone() == (0,)
target.close()
print("end sqlite_connection_class")
