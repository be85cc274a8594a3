"""A block of a transformer in training, with dropout."""

# backward

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


class Block(nn.Module):
    def __init__(self, size=256, heads=4):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.mlp_norm = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        batch, length, size = x.shape
        parts = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, size // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(attended.transpose(1, 2).reshape(batch, length, size)))
        return x + self.dropout(self.mlp(self.mlp_norm(x)))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Block().to(device, torch.bfloat16))
    x = torch.randn(2, 128, 256, device=device, dtype=torch.bfloat16, requires_grad=True)
    out = model(x)
    out.float().square().mean().backward()
