"""A distributed checkpoint becomes one file over another one."""

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

dcp.save({"model": model.state_dict()}, checkpoint_id="out")
dcp_to_torch_save("out", "m.pt")
assert torch.load("m.pt")["model"]["weight"].shape == (4, 4)
print("end dcp_to_torch_save")
