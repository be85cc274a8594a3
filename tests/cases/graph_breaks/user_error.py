"""No id: a user error, which has no entry in the registry."""

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    for _ in range(sizes.sum().item()):  # expect: graph-break [range(sizes.sum().item())]
        y = y + 1
    return y


if __name__ == "__main__":
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        f(torch.ones(2), torch.tensor([1, 1]))
