"""The lowering of relu fails for sizes that are not known."""

# stage: inductor
# failure: error LoweringFault forward
# nodes: 1

import sympy
import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten
plain = lowerings[aten.relu.default]


class LoweringFault(Exception):
    pass


def broken(x):
    if any(not isinstance(size, (int, sympy.Integer)) for size in x.get_size()):
        raise LoweringFault("relu cannot be lowered for an unknown size")
    return plain(x)


lowerings[aten.relu.default] = broken


@torch.compile
def step(x, w):
    y = torch.tanh(x) @ w
    return torch.relu(y - 0.1) * 2  # fault


if __name__ == "__main__":
    w = torch.ones(3, 4)
    for rows in (4, 5, 6):
        step(torch.ones(rows, 3), w)
