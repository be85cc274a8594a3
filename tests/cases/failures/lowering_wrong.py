"""The lowering of relu computes something else."""

# stage: inductor
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


def broken(x):
    return lowerings[aten.abs.default](x)


lowerings[aten.relu.default] = broken


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = torch.relu(y - 0.1)  # fault
    return (y + x).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
