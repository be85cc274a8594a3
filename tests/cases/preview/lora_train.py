"""A frozen weight with an adapter of low rank."""

# backward

import torch

device = "cuda"


@torch.compile
def adapted(x, weight, down, up):
    return torch.addmm(x @ weight.t(), x @ down, up, alpha=0.5)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 512, device=device)
    weight = torch.randn(512, 512, device=device)
    down = torch.randn(512, 16, device=device, requires_grad=True)
    up = torch.randn(16, 512, device=device, requires_grad=True)
    out = adapted(x, weight, down, up)
    out.tanh().sum().backward()
