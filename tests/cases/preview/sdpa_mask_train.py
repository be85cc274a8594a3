"""Attention with a mask that is computed."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def attend(q, k, v, lengths):
    mask = torch.arange(128, device=q.device) < lengths[:, None, None, None]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).relu()


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (
        torch.randn(2, 4, 128, 64, device=device, dtype=torch.float16, requires_grad=True) for _ in range(3)
    )
    out = attend(q, k, v, torch.tensor([100, 128], device=device))
    out.float().sum().backward()
