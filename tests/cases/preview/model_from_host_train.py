"""A model is built on the host and moved, as most programs do."""

# backward

import torch
from torch import nn

device = "cuda"


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
        self.register_buffer("mean", torch.ones(32))

    def forward(self, x):
        return self.layers(x - self.mean).log_softmax(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Model().cuda())
    x = torch.randn(64, 32).to(device)
    out = model(x)
    out[:, 0].mean().neg().backward()
