"""Three generations of backups move on by one."""

import os

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

for older, newer in (("m.pt.2", "m.pt.1"), ("m.pt.1", "m_bak.pt"), ("m_bak.pt", "m.pt")):
    if os.path.exists(newer):
        os.rename(newer, older)
torch.save({"model": model.state_dict(), "step": 7}, "m.pt")
assert [torch.load(name)["step"] for name in ("m.pt", "m_bak.pt", "m.pt.1")] == [7, 1, 0]
print("end rotate_rename_chain")
