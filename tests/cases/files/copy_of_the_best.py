"""A copy of the model is averaged beside the training, and saved over the best checkpoint."""

import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = torch.optim.swa_utils.AveragedModel(model)
compiled = torch.compile(model)
for step in range(2):
    compiled(torch.randn(2, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update_parameters(model)
best = copy.deepcopy(model)

torch.save({"model": best.state_dict(), "average": average.state_dict(), "step": 7}, "best.ckpt")
state = torch.load("best.ckpt")
assert state["step"] == 7
best.load_state_dict(state["model"])
average.load_state_dict(state["average"])
print("end copy_of_the_best")
