"""An array is saved over another one."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

np.save("data.npy", np.arange(5))
with open("data.npz", "wb") as file:
    np.save(file, np.arange(6))
assert np.load("data.npy").tolist() == [0, 1, 2, 3, 4]
assert np.load("data.npz").shape == (6,)
print("end np_save")
