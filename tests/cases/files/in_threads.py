"""Threads and executors write, move and remove."""

import asyncio
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
compiled = torch.compile(model)
for step in range(2):
    loss = compiled(torch.randn(2, 4)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}: loss {loss.item():.3f}")

saving = threading.Thread(target=torch.save, args=({"step": 7}, "m.pt"))
saving.start()
saving.join()
with ThreadPoolExecutor(2) as pool:
    done = [pool.submit(os.remove, "best.ckpt"), pool.submit(shutil.rmtree, "out")]
for future in done:
    future.result()
asyncio.run(asyncio.to_thread(os.replace, "data.npy", "data.npz"))
assert torch.load("m.pt") == {"step": 7}
assert not any(map(os.path.exists, ("best.ckpt", "out", "data.npy")))
print("end in_threads")
