"""Arrays are saved over others, compressed and not."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

np.savez("data.npz", x=np.arange(5), y=np.zeros(3))
assert np.load("data.npz")["x"].sum() == 10
np.savez_compressed("data.npz", x=np.arange(6))
assert np.load("data.npz").files == ["x"]
print("end np_savez")
