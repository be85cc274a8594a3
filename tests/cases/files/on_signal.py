"""A checkpoint is saved when the scheduler sends a signal, and when an exception ends the loop."""

import os
import signal

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


def save(number, frame):
    torch.save({"step": 7}, "m.pt")


signal.signal(signal.SIGUSR1, save)
signal.raise_signal(signal.SIGUSR1)
try:
    raise KeyboardInterrupt
except KeyboardInterrupt:
    os.replace("best.ckpt", "m_bak.pt")
assert torch.load("m.pt") == {"step": 7} and not os.path.exists("best.ckpt")
print("end on_signal")
