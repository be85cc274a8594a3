"""Each epoch appends to a file of HDF5."""

import h5py
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

for epoch in range(3):
    compiled(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    with h5py.File("weights.h5", "a") as file:
        losses = file["loss"]
        losses.resize((losses.shape[0] + 1,))
        losses[-1] = epoch
        group = file.require_group(f"epoch_{epoch}")
        group.attrs["rate"] = 0.1
with h5py.File("weights.h5", "r") as file:
    assert file["loss"].shape == (11,) and file["loss"][-1] == 2
    assert set(file) == {"loss", "epoch_0", "epoch_1", "epoch_2"}
print("end h5py_loop")
