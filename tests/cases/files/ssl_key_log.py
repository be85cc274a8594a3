"""The keys of connections go into a log."""

import os
import ssl
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

context = ssl.create_default_context()
context.keylog_filename = "store"
assert os.path.getsize("store") > 0
print("end ssl_key_log")
