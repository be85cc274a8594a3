"""Random numbers of several distributions."""

import torch

device = "cuda"


@torch.compile
def noisy(x):
    noise = torch.rand_like(x) + torch.randn(1024, device=x.device)
    return x + noise, torch.randint(9, (100,), device=x.device)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 1024, device=device)
    out = noisy(x)
