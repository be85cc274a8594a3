"""An RMS norm as language models write it: computed in single precision."""

# backward

import torch
from torch import nn

device = "cuda"


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)
        return (x.float() * scale).to(x.dtype) * self.weight


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(RMSNorm(4096).to(device, torch.bfloat16))
    x = torch.randn(256, 4096, device=device, dtype=torch.bfloat16, requires_grad=True)
    out = model(x)
    out.float().square().mean().backward()
