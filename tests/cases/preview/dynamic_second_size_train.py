"""A size that becomes a symbol at the second call."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def normalize(x, weight):
    return F.layer_norm(x, (512,), weight)


if __name__ == "__main__":
    torch.manual_seed(0)
    weight = torch.randn(512, device=device, requires_grad=True)
    for rows in (128, 200):
        out = normalize(torch.randn(rows, 512, device=device), weight)
        out.square().mean().backward()
