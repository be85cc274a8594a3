"""An array in a file is made anew where one is."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

array = np.memmap("data.bin", dtype=np.float32, mode="w+", shape=(16,))
array[:] = 3
array.flush()
assert np.fromfile("data.bin", dtype=np.float32).tolist() == [3.0] * 16
array = np.lib.format.open_memmap("data.npy", mode="w+", dtype=np.int64, shape=(2,))
array[:] = 5
array.flush()
assert np.load("data.npy").tolist() == [5, 5]
print("end np_memmap_new")
