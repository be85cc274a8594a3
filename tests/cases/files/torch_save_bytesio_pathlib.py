"""A checkpoint is saved to memory and then written with `Path.write_bytes`."""

import io
from pathlib import Path

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

buffer = io.BytesIO()
torch.save({"model": model.state_dict(), "step": 7}, buffer)
written = Path("best.ckpt").write_bytes(buffer.getvalue())
assert written == Path("best.ckpt").stat().st_size > 0
assert torch.load("best.ckpt")["step"] == 7
print("end torch_save_bytesio_pathlib")
