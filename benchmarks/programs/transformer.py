"""Compile a 12-layer transformer with the eager backend, and print the seconds."""

import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Pre-norm attention and feed-forward."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.heads = heads

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    # What is measured is compiling: importing the compiler costs the same with and without Fullgraph.
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))
    model = nn.Sequential(*(Block(64, 4) for _ in range(12)))
    compiled = torch.compile(model, backend="eager")
    started = time.perf_counter()
    compiled(torch.randn(2, 16, 64))
    print(f"seconds: {time.perf_counter() - started:.6f}", file=sys.stderr)
