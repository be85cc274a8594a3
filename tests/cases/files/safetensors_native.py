"""The native module of safetensors writes over a checkpoint."""

import numpy
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

from safetensors import _safetensors_rust, safe_open

step = numpy.ones(1, numpy.float32)
spec = _safetensors_rust.TensorSpec(dtype="float32", shape=[1], data_ptr=step.ctypes.data, data_len=4)
_safetensors_rust.serialize_file({"step": spec}, "model.safetensors")
with safe_open("model.safetensors", "pt") as file:
    assert list(file.keys()) == ["step"]
print("end safetensors_native")
