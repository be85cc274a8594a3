"""A checkpoint in the old format is written into a file that is open for update."""

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

with open("m.pt", "r+b") as file:
    torch.save({"model": model.state_dict(), "step": 7}, file, _use_new_zipfile_serialization=False)
    file.truncate()
assert torch.load("m.pt")["step"] == 7
print("end torch_save_legacy")
