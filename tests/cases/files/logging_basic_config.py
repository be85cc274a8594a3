"""The log of the whole program is begun anew."""

import logging

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

logging.basicConfig(filename="log.txt", filemode="w", level=logging.INFO, force=True)
logging.info("trained for %d steps", 2)
logging.shutdown()
with open("log.txt") as file:
    assert file.read() == "INFO:root:trained for 2 steps\n"
print("end logging_basic_config")
