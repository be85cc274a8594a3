"""Logs are appended to, begun anew, and rotated."""

import logging
import logging.handlers

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

log = logging.getLogger("training")
log.setLevel(logging.INFO)
appending = logging.FileHandler("notes.txt")
rotating = logging.handlers.RotatingFileHandler("log.txt", maxBytes=100, backupCount=1)
anew = logging.FileHandler("out/log.txt", mode="w")
for handler in (appending, rotating, anew):
    log.addHandler(handler)
for number in range(20):
    log.info("step %d: %s", number, loss.item())
logging.shutdown()
with (
    open("notes.txt") as one,
    open("log.txt") as two,
    open("log.txt.1") as three,
    open("out/log.txt") as four,
):
    assert one.read().startswith("old notes") and "step 19" in two.read()
    assert "old line" not in three.read() and four.readline().startswith("step 0")
print("end logging_handlers")
