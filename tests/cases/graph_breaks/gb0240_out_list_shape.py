"""GB0240: Shape mismatch with out= list of tensor variants."""

import torch


@torch.compile
def f(x, values, indices):
    y = x * 2
    torch.max(y, 0, out=(values, indices))  # expect: GB0240 [torch.max(y, 0, out=(values, indices))]
    return values + 1


if __name__ == "__main__":
    f(torch.ones(4, 2), torch.empty(0), torch.empty(0, dtype=torch.long))
