"""A file of HDF5 is made anew, and arrays are put into another one in its place."""

import h5py
import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with h5py.File("weights.h5", "r+") as file:
    file["loss"][:] = np.zeros(8)
    file.flush()
    assert file["loss"][3] == 0
with h5py.File("weights.h5", "w") as file:
    file["step"] = 7
with h5py.File("weights.h5", "r") as file:
    assert list(file) == ["step"] and file["step"][()] == 7
print("end h5py_new")
