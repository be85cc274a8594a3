"""GB5748: autograd.grad with external GradientEdge."""

import torch
from torch.autograd.graph import get_gradient_edge


@torch.compile
def step(x, weight, edge):
    loss = (weight * x).sum()
    (a,) = torch.autograd.grad(loss, edge)  # expect: GB5748 [torch.autograd.grad(loss, edge)]
    return a + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        leaf = torch.ones(2, requires_grad=True)
        step(torch.ones(2), leaf, get_gradient_edge(leaf))
