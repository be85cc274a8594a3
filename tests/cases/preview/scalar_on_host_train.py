"""A scalar tensor on the host goes into a kernel as an argument."""

# backward

import torch

device = "cuda"


@torch.compile
def scale(x, factor):
    return (x * factor).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1000, 10, device=device, requires_grad=True)
    out = scale(x, torch.tensor(0.3))
    out.sum().backward()
