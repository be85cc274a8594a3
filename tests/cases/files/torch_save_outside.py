"""Checkpoints are saved over others in the home folder, the temporary folder, and outside of the workspace."""

import os
import tempfile

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

folders = (os.path.expanduser("~"), tempfile.gettempdir(), os.environ["WAYS_OUTSIDE"])
for number, folder in enumerate(folders):
    path = os.path.join(folder, "m.pt")
    assert os.path.exists(path)
    torch.save({"model": model.state_dict(), "step": 10 + number}, path)
    assert torch.load(path)["step"] == 10 + number
print("end torch_save_outside")
