"""Flex attention in training, with a bias that is learnt."""

# backward

import torch
from torch.nn.attention.flex_attention import flex_attention

device = "cuda"


@torch.compile
def attend(q, k, v, slopes):
    def biased(score, batch, head, query, key):
        return score - slopes[head] * (query - key).abs()

    return flex_attention(q, k, v, score_mod=biased)


if __name__ == "__main__":
    torch.manual_seed(0)
    q, k, v = (
        torch.randn(2, 4, 256, 64, device=device, dtype=torch.bfloat16, requires_grad=True) for _ in range(3)
    )
    slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625], device=device)
    out = attend(q, k, v, slopes)
    out.float().square().mean().backward()
