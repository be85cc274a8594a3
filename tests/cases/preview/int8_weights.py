"""Weights of eight bits are scaled just before their product."""

import torch

device = "cuda"


@torch.compile
def project(x, weight, scales):
    return x @ (weight.to(x.dtype) * scales[:, None]).t()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 512, device=device, dtype=torch.float16)
    weight = torch.randint(-128, 127, (256, 512), device=device, dtype=torch.int8)
    scales = torch.rand(256, device=device, dtype=torch.float16) / 1000
    out = project(x, weight, scales)
