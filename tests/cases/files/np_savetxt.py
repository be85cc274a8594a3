"""A table is written over another one."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

np.savetxt("metrics.csv", np.arange(6).reshape(3, 2), delimiter=",")
assert np.loadtxt("metrics.csv", delimiter=",").shape == (3, 2)
np.arange(3, dtype=np.int32).tofile("data.bin")
assert np.fromfile("data.bin", dtype=np.int32).tolist() == [0, 1, 2]
print("end np_savetxt")
