"""All folders of checkpoints but the newest are removed, after a new one was written."""

import shutil
from pathlib import Path

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

folder = Path("checkpoints")
new = folder / "step_4"
new.mkdir(exist_ok=True)
torch.save(model.state_dict(), new / "model.pt")
torch.save(optimizer.state_dict(), new / "optimizer.pt")
steps = sorted(folder.glob("step_*"), key=lambda path: int(path.name.removeprefix("step_")))
for old in steps[:-1]:
    shutil.rmtree(old)
assert [path.name for path in folder.iterdir()] == ["step_4"]
assert torch.load(new / "model.pt")["bias"].shape == (4,)
print("end keep_last_checkpoints")
