"""The gated layer of language models in bfloat16."""

# backward

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


class SwiGLU(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.gate = nn.Linear(size, hidden, bias=False)
        self.up = nn.Linear(size, hidden, bias=False)
        self.down = nn.Linear(hidden, size, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(SwiGLU(512, 1408).to(device, torch.bfloat16))
    x = torch.randn(4, 128, 512, device=device, dtype=torch.bfloat16, requires_grad=True)
    out = model(x)
    out.float().mean().backward()
