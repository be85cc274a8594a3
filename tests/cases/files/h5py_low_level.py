"""HDF5's own functions open a file, and make another."""

import h5py
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

file = h5py.h5f.open(b"weights.h5", h5py.h5f.ACC_RDWR)
file.unlink(b"loss")
file.close()
h5py.h5f.create(b"data.bin", h5py.h5f.ACC_TRUNC).close()
with h5py.File("weights.h5") as one, h5py.File("data.bin") as two:
    assert len(one) == len(two) == 0
print("end h5py_low_level")
