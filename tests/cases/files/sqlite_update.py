"""A database of runs is changed, and a table of it is dropped."""

import sqlite3

import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

connection = sqlite3.connect("db.sqlite")
with connection:
    connection.execute("INSERT INTO runs VALUES ('second', 0.25)")
    connection.execute("DELETE FROM runs WHERE name = 'first'")
connection.close()
connection = sqlite3.connect("db.sqlite")
assert connection.execute("SELECT name FROM runs").fetchall() == [("second",)]
connection.execute("DROP TABLE runs")
connection.commit()
assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
connection.close()
print("end sqlite_update")
