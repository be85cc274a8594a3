"""GB7000: graph break in loop."""

import torch


@torch.compile
def f(x, sizes):
    y = x * 2
    for size in sizes:
        y = y + len(range(size.sum().item()))  # expect: GB7000 [range(size.sum().item())]
    return y


if __name__ == "__main__":
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        f(torch.ones(2), [torch.tensor([1, 1])])
