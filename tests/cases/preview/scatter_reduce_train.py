"""The mean of the edges at each node of a graph."""

# backward

import torch

device = "cuda"


@torch.compile
def aggregate(nodes, source, target):
    messages = nodes[source].relu()
    total = torch.zeros_like(nodes).index_add(0, target, messages)
    ones = torch.ones(target.shape[0], device=nodes.device)
    number = torch.zeros(nodes.shape[0], device=nodes.device).index_add(0, target, ones)
    return total / number.clamp(min=1)[:, None]


if __name__ == "__main__":
    torch.manual_seed(0)
    nodes = torch.randn(200, 32, device=device, requires_grad=True)
    source, target = torch.randint(0, 200, (2, 1000), device=device)
    out = aggregate(nodes, source, target)
    out.square().sum().backward()
