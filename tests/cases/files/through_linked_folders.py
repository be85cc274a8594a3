"""Files are reached through links to their folders, inside and outside of the workspace."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

torch.save({"step": 7}, os.path.abspath("linked/step_1/model.pt"))
os.remove("linked/step_1/optimizer.pt")
with open("elsewhere/notes.txt", "w") as file:
    file.write("new")
os.rename("elsewhere/m.pt", "elsewhere/runs/first/model.pt")
assert torch.load("checkpoints/step_1/model.pt") == {"step": 7}
assert not os.path.exists("checkpoints/step_1/optimizer.pt")
outside = os.environ["WAYS_OUTSIDE"]
with open(os.path.join(outside, "notes.txt")) as file:
    assert file.read() == "new"
assert not os.path.exists(os.path.join(outside, "m.pt"))
print("end through_linked_folders")
