"""A cross entropy with smoothed labels and weights of classes."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def loss(logits, wanted, weight):
    return F.cross_entropy(logits, wanted, weight, label_smoothing=0.1)


if __name__ == "__main__":
    torch.manual_seed(0)
    logits = torch.randn(1024, 100, device=device, requires_grad=True)
    wanted = torch.randint(0, 100, (1024,), device=device)
    weight = torch.rand(100, device=device)
    out = loss(logits, wanted, weight)
    out.backward()
