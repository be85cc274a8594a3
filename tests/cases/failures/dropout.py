"""Random numbers differ from one stage to another: no fault."""

# stage: none

import torch


@torch.compile
def step(x):
    y = torch.nn.functional.dropout(torch.sin(x), 0.5, training=True)
    return y + torch.rand_like(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.ones(8, 16, requires_grad=True)).sum().backward()
