"""A relu does not compile."""

# stage: faulty
# failure: error InjectedError forward
# nodes: 1

import torch
from fullgraph_compiler.backends.faults import relu_compile_error as faulty


@torch.compile(backend=faulty)
def block(x, w):
    y = torch.sin(x @ w)
    y = torch.relu(y - 0.1)  # fault
    return (y * x).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 8, requires_grad=True)
    block(x, torch.randn(8, 8)).backward()
