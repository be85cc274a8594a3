"""A distributed checkpoint of one process is saved over another, and loaded."""

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

for step in (1, 2):
    dcp.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint_id="checkpoints/step_1"
    )
state = {"model": model.state_dict()}
dcp.load(state, checkpoint_id="checkpoints/step_1")
model.load_state_dict(state["model"])
shutil.rmtree("checkpoints/step_2")
os.replace("checkpoints/step_1", "checkpoints/step_2")
assert os.path.exists("checkpoints/step_2/.metadata")
assert not os.path.exists("checkpoints/step_1")
print("end dcp_save_load")
