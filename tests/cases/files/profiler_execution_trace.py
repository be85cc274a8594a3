"""An observer of the profiler writes while the model runs."""

import json
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

observer = torch.profiler.ExecutionTraceObserver()
observer.register_callback("config.json")
observer.start()
model(torch.randn(2, 4))
observer.stop()
observer.unregister_callback()
with open("config.json") as file:
    assert "nodes" in json.load(file)
print("end profiler_execution_trace")
