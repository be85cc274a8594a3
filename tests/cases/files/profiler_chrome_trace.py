"""The profiler writes what it saw."""

import json
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
    model(torch.randn(2, 4))
profiler.export_chrome_trace("config.json")
with open("config.json") as file:
    assert "traceEvents" in json.load(file)
print("end profiler_chrome_trace")
