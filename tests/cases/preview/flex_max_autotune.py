"""Flex attention with several configurations to choose from."""

# otherwise: the fastest of several templates is chosen on the device

import torch
from torch.nn.attention.flex_attention import flex_attention

device = "cuda"


@torch.compile(mode="max-autotune-no-cudagraphs")
def attend(q, k, v):
    return flex_attention(q, k, v)


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 4, 256, 64, device=device, dtype=torch.bfloat16) for _ in range(3))
    out = attend(q, k, v)
