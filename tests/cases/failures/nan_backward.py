"""Only NaN differs, and only in a gradient: the lowering of cos makes some."""

# stage: inductor
# failure: accuracy NaN backward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten
cos = lowerings[aten.cos.default]


def nan_at_zero(x):
    divided = lowerings[aten.div.Tensor](x, x)
    return lowerings[aten.mul.Tensor](cos(x), divided)


lowerings[aten.cos.default] = nan_at_zero


@torch.compile
def step(x):
    return (torch.sin(x) + x * 2).sum()  # fault


if __name__ == "__main__":
    step(torch.tensor([0.0, 1.0, 2.0], requires_grad=True)).backward()
