"""TorchInductor cannot choose between two tensors of uint16."""

# stage: inductor
# failure: error RuntimeError forward
# nodes: 1

import torch


@torch.compile
def step(x):
    y = x.to(torch.int32) + 1
    z = torch.where(y > 3, x, x * x)  # fault
    return z, y.sum()


if __name__ == "__main__":
    step(torch.arange(8, dtype=torch.int32).to(torch.uint16))
