"""Vector norms, and vectors of length one."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def directions(x, y):
    return F.cosine_similarity(x, y, dim=-1) + torch.linalg.vector_norm(x, dim=-1) * F.normalize(y)[:, 0]


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 512, device=device, requires_grad=True)
    y = torch.randn(256, 512, device=device, requires_grad=True)
    out = directions(x, y)
    out.sum().backward()
