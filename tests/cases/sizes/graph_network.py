"""Messages along the edges of graphs with other numbers of edges."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.message = nn.Linear(2 * width, width)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        messages = self.message(torch.cat([x[source], x[target]], -1)).relu()
        return x + torch.zeros_like(x).index_add(0, target, messages)


if __name__ == "__main__":
    torch.manual_seed(0)
    layer = torch.compile(Layer(4))
    for edges in (12, 20, 31):
        graph = torch.randint(0, 6, (2, edges))
        layer(torch.randn(6, 4), graph).sum().backward()
