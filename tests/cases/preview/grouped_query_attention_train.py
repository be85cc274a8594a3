"""Attention with fewer heads of keys than of queries, and a rotary embedding."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


def rotate(x, angles):
    first, second = x.float().chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1).to(x.dtype)


@torch.compile
def attend(q, k, v, angles):
    q, k = rotate(q, angles), rotate(k, angles)
    k, v = k.repeat_interleave(4, dim=1), v.repeat_interleave(4, dim=1)
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    options = {"device": device, "dtype": torch.bfloat16, "requires_grad": True}
    q = torch.randn(2, 8, 128, 64, **options)
    k, v = torch.randn(2, 2, 128, 64, **options), torch.randn(2, 2, 128, 64, **options)
    angles = torch.outer(torch.arange(128.0, device=device), 1e-4 ** torch.linspace(0, 1, 32, device=device))
    out = attend(q, k, v, angles)
    out.float().square().sum().backward()
