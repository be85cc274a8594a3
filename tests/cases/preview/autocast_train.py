"""Mixed precision: products in bfloat16, the rest in single precision."""

# backward

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512)).to(device))
    x = torch.randn(64, 256, device=device, requires_grad=True)
    with torch.autocast(device, dtype=torch.bfloat16):
        out = F.mse_loss(model(x), torch.zeros(64, 512, device=device))
    out.backward()
