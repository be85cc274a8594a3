"""A transformer block with example calls: no script is needed to compile it.

The second call has another sequence length, so that the recompilation it causes shows on its line.
"""

import torch
from torch import nn
from torch.nn import functional


# fullgraph: Block(width=64, heads=4)(f32[2, 16, 64])
# fullgraph: Block(width=64, heads=4)(f32[2, 24, 64])
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(attended.transpose(1, 2).reshape(batch, length, width))


def clip(x, limit):
    """Scale ``x`` down to ``limit``. The test of a tensor's value breaks the graph.

    >>> clip(torch.ones(4), 1.0)
    tensor([0.5000, 0.5000, 0.5000, 0.5000])
    """
    norm = x.norm()
    if norm > limit:
        x = x * (limit / norm)
    return x
