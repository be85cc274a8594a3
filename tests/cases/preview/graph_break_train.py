"""Two graphs with a break between them, forward and backward."""

# backward

import torch

device = "cuda"


@torch.compile
def halves(x):
    y = x.relu() + 1
    torch._dynamo.graph_break()
    return y.exp().sum(-1) * 2


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(100, 100, device=device, requires_grad=True)
    out = halves(x)
    out.sum().backward()
