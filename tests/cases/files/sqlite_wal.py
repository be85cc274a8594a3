"""A database gets a log beside it, and is copied over another file."""

import sqlite3

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

connection = sqlite3.connect("db.sqlite")
assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
connection.execute("UPDATE runs SET loss = 0.125")
connection.commit()
with open("best.ckpt", "wb"):
    pass
backup = sqlite3.connect("best.ckpt")
connection.backup(backup)
assert backup.execute("SELECT loss FROM runs").fetchall() == [(0.125,)]
backup.close()
connection.execute("VACUUM")
connection.close()
print("end sqlite_wal")
