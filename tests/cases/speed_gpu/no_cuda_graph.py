"""Many small kernels, and an input that is changed: no CUDA graph."""

import torch


@torch.compile(mode="reduce-overhead")
def forward(x, state):
    for _ in range(30):
        x = torch.sin(x) @ x
    state.add_(x)  # slowest: cudagraph
    return torch.tanh(x)


x, state = torch.randn(64, 64, device="cuda") / 64, torch.zeros(64, 64, device="cuda")
with torch.no_grad():
    for _ in range(6):
        forward(x, state)
