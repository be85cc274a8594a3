"""A pass of the program over TorchInductor's graphs, which makes a sum a difference."""

# stage: inductor
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._inductor import config


def subtract(graph):
    for node in graph.nodes:
        if node.target is torch.ops.aten.add.Tensor:
            node.target = torch.ops.aten.sub.Tensor


config.post_grad_custom_post_pass = subtract


@torch.compile
def step(x, y):
    z = torch.tanh(x) * y
    z = z + x  # fault
    return z.amax(dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(5, 7), torch.randn(7))
