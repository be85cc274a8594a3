"""An array in a file is changed in its place."""

import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

array = np.load("data.npy", mmap_mode="r+")
array[0] = 99
array.flush()
del array
assert np.load("data.npy")[0] == 99
print("end np_memmap_update")
