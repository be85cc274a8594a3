"""It fails without the compiler as well."""

# stage: uncompiled
# failure: error RuntimeError forward
# nodes: 0

import torch


@torch.compile
def step(x, w):
    return torch.relu(x) @ w  # fault


if __name__ == "__main__":
    step(torch.ones(2, 3), torch.ones(4, 5))
