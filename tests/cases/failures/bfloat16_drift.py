"""bfloat16 differs in the last bits where TorchInductor keeps more of them: no fault."""

# stage: none

import torch


@torch.compile
def step(x, scale):
    y = x * torch.rsqrt(x.square().mean(dim=-1, keepdim=True) + 1e-6) * scale
    y = torch.nn.functional.silu(y) * y - torch.sigmoid(y)
    return (torch.exp(y / 4) - x).sum(dim=-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(16, 64, dtype=torch.bfloat16, requires_grad=True)
    step(x, torch.ones(64, dtype=torch.bfloat16)).sum().backward()
