"""The lowering of relu never ends."""

# stage: inductor
# failure: hang Hang forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


def broken(x):
    while True:
        pass


lowerings[aten.relu.default] = broken


@torch.compile
def step(x):
    y = torch.relu(x - 0.1)  # fault
    return y.cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8))
