"""A lowering that computes something else, on the GPU, in half precision and after dropout."""

# stage: inductor
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

right = lowerings[torch.ops.aten.relu.default]


def wrong(x):
    return lowerings[torch.ops.aten.add.Tensor](right(x), 0.5)


lowerings[torch.ops.aten.relu.default] = wrong


@torch.compile
def step(x, w):
    y = torch.nn.functional.dropout(x @ w, 0.5)
    y = torch.relu(y)  # fault
    return y.cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(64, 64, device="cuda").half(), torch.randn(64, 64, device="cuda").half())
