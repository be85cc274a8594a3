"""Nothing fails."""

# stage: none

import torch


@torch.compile
def step(x):
    values, order = torch.sort(x, dim=1)
    return torch.gather(values * 2, 1, order)


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(4, 8, requires_grad=True)).sum().backward()
