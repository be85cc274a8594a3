"""Only NaN differs: the lowering of maximum loses it."""

# stage: inductor
# failure: accuracy NaN forward
# nodes: 2

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


def broken(x, y):
    return lowerings[aten.where.self](lowerings[aten.gt.Tensor](x, y), x, y)


lowerings[aten.maximum.default] = broken


@torch.compile
def step(x, y):
    z = torch.sqrt(x) + 1
    return torch.maximum(z, y) * 2  # fault


if __name__ == "__main__":
    step(torch.tensor([1.0, -1.0, 4.0]), torch.tensor([3.0, 2.0, 1.0]))
