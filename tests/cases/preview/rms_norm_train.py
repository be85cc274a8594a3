"""torch's own RMS norm in bfloat16."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def normalize(x, weight):
    return F.rms_norm(x, (2048,), weight)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(512, 2048, device=device, dtype=torch.bfloat16, requires_grad=True)
    weight = torch.randn(2048, device=device, dtype=torch.bfloat16, requires_grad=True)
    out = normalize(x, weight)
    out.float().square().mean().backward()
