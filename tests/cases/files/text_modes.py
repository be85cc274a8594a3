"""Text files are opened to be written, appended to, and changed in their place."""

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

with open("log.txt", "a") as file:
    file.write("appended\n")
with open("log.txt.1", "w") as file:
    file.write("written\n")
with open("notes.txt", "r+") as file:
    file.write("new")
with open("metrics.csv", "w+") as file:
    file.write("both ways")
    file.seek(0)
    assert file.read() == "both ways"
with open("log.txt") as one, open("log.txt.1") as two, open("notes.txt") as three:
    assert one.read().endswith("appended\n") and two.read() == "written\n" and three.read(3) == "new"
print("end text_modes")
