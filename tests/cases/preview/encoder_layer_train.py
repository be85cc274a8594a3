"""torch's own layer of a transformer."""

# backward

import torch
from torch import nn

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(nn.TransformerEncoderLayer(128, 4, 256, batch_first=True).to(device))
    x = torch.randn(4, 64, 128, device=device)
    out = model(x)
    out.square().mean().backward()
