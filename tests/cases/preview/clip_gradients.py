"""The norm of all gradients, and what is left of them."""

import torch

device = "cuda"


@torch.compile
def clip(gradients):
    norm = torch.linalg.vector_norm(torch.stack([gradient.norm() for gradient in gradients]))
    return [gradient * (1.0 / (norm + 1e-6)).clamp(max=1.0) for gradient in gradients]


if __name__ == "__main__":
    torch.manual_seed(0)
    out = clip([torch.randn(size, size, device=device) for size in (16, 128, 300)])
