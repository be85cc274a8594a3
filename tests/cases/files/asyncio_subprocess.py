"""A child of an event loop removes a file."""

import asyncio
import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


async def clean():
    child = await asyncio.create_subprocess_exec("rm", "m.pt", "metrics.csv")
    assert await child.wait() == 0


asyncio.run(clean())
assert not os.path.exists("m.pt") and not os.path.exists("metrics.csv")
print("end asyncio_subprocess")
