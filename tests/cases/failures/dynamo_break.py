"""A graph break where none is allowed."""

# stage: eager
# failure: error Unsupported forward
# nodes: 0

import torch


@torch.compile(fullgraph=True)
def normalize(x):
    peak = x.abs().max()
    print("normalize")  # fault
    return x / peak


if __name__ == "__main__":
    normalize(torch.tensor([1.0, -4.0]))
