"""A lowering that raises, on the GPU."""

# stage: inductor
# failure: error LoweringFault forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings


class LoweringFault(Exception):
    pass


def broken(x):
    raise LoweringFault("relu cannot be lowered")


lowerings[torch.ops.aten.relu.default] = broken


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = torch.relu(y - 0.1)  # fault
    return (y + x).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(
        torch.randn(32, 32, device="cuda", requires_grad=True), torch.randn(32, 32, device="cuda")
    ).sum().backward()
