"""What is printed goes to files."""

import contextlib

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

with open("log.txt", "w") as file:
    print("loss", loss.item(), file=file)
with open("metrics.csv", "a") as file, contextlib.redirect_stdout(file):
    print("2,0.25")
with open("log.txt") as log, open("metrics.csv") as metrics:
    assert log.read().startswith("loss ") and metrics.read().endswith("2,0.25\n")
print("end print_to_file")
