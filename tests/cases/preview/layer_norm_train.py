"""A residual and a layer norm, as modules; the gradient of the weights is a split reduction."""

# backward

import torch
from torch import nn

device = "cuda"


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(768)

    def forward(self, x, y):
        return self.norm(x + y)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Residual().to(device))
    x = torch.randn(4096, 768, device=device, requires_grad=True)
    y = torch.randn(4096, 768, device=device)
    out = model(x, y)
    out.square().sum().backward()
