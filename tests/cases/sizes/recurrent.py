"""A state is carried over chunks of other lengths."""

import torch
from torch import nn


class Scan(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(6, 6)

    def forward(self, x, state):
        gates = self.inner(x).sigmoid()
        decay = gates.log().cumsum(1)
        return (decay.exp() * state[:, None] + (1 - gates) * x), (decay[:, -1].exp() * state)


if __name__ == "__main__":
    torch.manual_seed(0)
    scan = torch.compile(Scan())
    state = torch.zeros(3, 6)
    for length in (8, 5, 13):
        x = torch.randn(3, length, 6)
        out, state = scan(x, state.detach())
        out.sum().backward()
