"""A database in memory attaches one in a file."""

import sqlite3
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

connection = sqlite3.connect(":memory:")
connection.execute("ATTACH DATABASE 'db.sqlite' AS results")
with connection:
    connection.execute("DELETE FROM results.runs")
assert connection.execute("SELECT COUNT(*) FROM results.runs").fetchone() == (0,)
connection.close()
print("end sqlite_attach")
