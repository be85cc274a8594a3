"""A distributed checkpoint is saved beside the training, and the older ones are removed."""

import os
import shutil

import torch
import torch.distributed.checkpoint as dcp
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

for step in (3, 4):
    saving = dcp.async_save({"model": model.state_dict()}, checkpoint_id=f"checkpoints/step_{step}")
    compiled(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    saving.result()
    shutil.rmtree(f"checkpoints/step_{step - 1}")
state = {"model": model.state_dict()}
dcp.load(state, checkpoint_id="checkpoints/step_4")
assert sorted(os.listdir("checkpoints")) == ["step_1", "step_4"]
print("end dcp_async_save")
