"""Rows are appended to a table, then it is written anew."""

import csv

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

with open("metrics.csv", "a", newline="") as file:
    csv.writer(file).writerow([2, loss.item()])
with open("metrics.csv", newline="") as file:
    assert len(list(csv.reader(file))) == 3
with open("metrics.csv", "w", newline="") as file:
    writer = csv.DictWriter(file, ["step", "rate"])
    writer.writeheader()
    writer.writerow({"step": 1, "rate": 0.1})
with open("metrics.csv", newline="") as file:
    assert list(csv.DictReader(file)) == [{"step": "1", "rate": "0.1"}]
print("end csv_rewrite")
