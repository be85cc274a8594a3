"""The decomposition of the gradient of silu raises."""

# stage: aot_eager_decomp_partition
# failure: error DecompositionFault backward
# nodes: 1

import torch
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


class DecompositionFault(Exception):
    pass


def broken(grad, x):
    raise DecompositionFault("the gradient of silu cannot be decomposed")


decompositions[aten.silu_backward.default] = broken


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = torch.nn.functional.silu(y - 0.1)  # fault
    return (y + x).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
