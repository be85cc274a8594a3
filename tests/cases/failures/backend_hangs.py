"""A backend that never ends when it meets a gelu."""

# stage: my_backend
# failure: hang Hang forward
# nodes: 1

import torch


def my_backend(graph, inputs):
    if any(node.target is torch._C._nn.gelu for node in graph.graph.nodes):
        while True:
            pass
    return graph.forward


@torch.compile(backend=my_backend)
def step(x):
    y = torch.nn.functional.gelu(x.cos())  # fault
    return y + x


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(4, 6))
