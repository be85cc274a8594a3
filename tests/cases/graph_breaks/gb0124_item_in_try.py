"""GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False."""

import torch


@torch.compile
def f(x, table):
    y = x * 2
    try:
        size = table["rows"].item()  # expect: GB0124 [table["rows"].item()]
    except KeyError:
        size = 1
    return y * size


if __name__ == "__main__":
    f(torch.ones(2), {"rows": torch.tensor(2)})
