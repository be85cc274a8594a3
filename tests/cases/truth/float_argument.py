"""A number that AOTAutograd makes a constant, another one in each call."""

import torch


@torch.compile
def ema(p, q, decay):
    return p.lerp(q, 1 - decay)


if __name__ == "__main__":
    p, q = torch.zeros(8), torch.ones(8)
    for step in range(12):
        p = ema(p, q, min(0.99, (1 + step) / (10 + step)))
