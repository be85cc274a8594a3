"""The lowering of cos, which is the gradient of sin, raises."""

# stage: inductor
# failure: error LoweringFault backward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


class LoweringFault(Exception):
    pass


def broken(*arguments):
    raise LoweringFault("cos cannot be lowered")


lowerings[aten.cos.default] = broken


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = torch.sin(y * 3)  # fault
    return (y + x).exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
