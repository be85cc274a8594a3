"""The second of three graphs cannot be compiled."""

# stage: inductor
# failure: error LoweringFault forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


class LoweringFault(Exception):
    pass


def broken(*arguments):
    raise LoweringFault("acosh cannot be lowered")


lowerings[aten.acosh.default] = broken


@torch.compile
def step(x, w):
    y = torch.sin(x @ w)
    print("one")
    y = torch.acosh(y + 3) * 2  # fault
    print("two")
    return y.cos().sum(dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
