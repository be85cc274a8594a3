"""A scripted model is saved for the interpreter of phones."""

import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

scripted = torch.jit.script(nn.ReLU())
scripted._save_for_lite_interpreter("m.pt")
scripted._c._save_for_mobile("best.ckpt", {}, False)
assert os.path.getsize("m.pt") > 0 and os.path.getsize("best.ckpt") > 0
print("end torch_jit_lite")
