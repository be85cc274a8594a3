"""The decomposition of gelu computes something else."""

# stage: aot_eager_decomp_partition
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._inductor.decomposition import decompositions

aten = torch.ops.aten


def broken(x, *, approximate="none"):
    return x * torch.sigmoid(x)


decompositions[aten.gelu.default] = broken


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = torch.nn.functional.gelu(y - 0.1)  # fault
    return (y + x).cos()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
