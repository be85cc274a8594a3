"""A file in shared memory is written over by path, by a child and as a segment."""

import os
import subprocess
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

from multiprocessing import resource_tracker, shared_memory

folder = os.environ["WAYS_MEMORY"]
with open(f"{folder}/notes.txt", "w") as file:
    file.write("new")
subprocess.run(["sh", "-c", f"echo new > {folder}/m.pt; rm -f {folder}/*.pt"], stderr=subprocess.DEVNULL)
name = os.environ["WAYS_SEGMENT"]
segment = shared_memory.SharedMemory(name)
segment.buf[:3] = b"new"
segment.close()
resource_tracker.unregister(f"/{name}", "shared_memory")
print("end shared_memory_file")
