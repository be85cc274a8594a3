"""A model is saved and loaded, and its bytes are written over a checkpoint."""

from pathlib import Path

import torch
from safetensors.torch import load, load_model, save, save_model
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

save_model(model, "model.safetensors")
missing, unexpected = load_model(model, "model.safetensors")
assert not missing and not unexpected
Path("best.ckpt").write_bytes(save(model.state_dict()))
assert load(Path("best.ckpt").read_bytes())["weight"].shape == (4, 4)
print("end safetensors_save_model")
