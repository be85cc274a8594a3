"""Integer arithmetic: floor division, shifts, powers, remainders of negative numbers."""

import torch

device = "cuda"


@torch.compile
def hash_of(x, y):
    z = (x * 2654435761 + y) ^ (x >> 7)
    return z // 17, z % 1000, (x.pow(3) & 0xFF).to(torch.uint8), x.double().pow(3).to(torch.int32)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randint(-1000, 1000, (64, 96), device=device)
    y = torch.randint(0, 1000, (64, 96), device=device)
    out = hash_of(x, y)
