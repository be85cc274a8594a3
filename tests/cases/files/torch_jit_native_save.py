"""A scripted model and a function are saved by their native methods."""

import os
import torch
from torch import nn


def lambda_like(x):
    return x + 1


model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

module, function = torch.jit.script(nn.ReLU()), torch.jit.script(lambda_like)
module._c.save("m.pt", {})
torch._C.ScriptFunction.save(function, "best.ckpt", {})
assert os.path.getsize("m.pt") > 0 and os.path.getsize("best.ckpt") > 0
print("end torch_jit_native_save")
