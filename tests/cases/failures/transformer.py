"""A block of a transformer, in which erf (a part of gelu) is computed wrongly."""

# stage: inductor
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


def broken(x):
    return lowerings[aten.tanh.default](x)


lowerings[aten.erf.default] = broken


class Block(torch.nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.mix, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = self.mix(self.before(x)).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(rows, length, width))
        up = torch.nn.functional.gelu(self.up(self.after(x)))  # fault
        return x + self.down(up)


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.compile(Block(32, 4))(torch.randn(2, 8, 32)).sum().backward()
