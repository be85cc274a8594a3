"""GB0241: Attempted to call op with non-contiguous `out=` list of tensors."""

import torch


@torch.compile
def f(x, values, indices):
    y = x * 2
    torch.max(y, 1, out=(values, indices))  # expect: GB0241 [torch.max(y, 1, out=(values, indices))]
    return values + 1


if __name__ == "__main__":
    f(torch.ones(2, 2, 3), torch.empty(3, 2).t(), torch.empty(2, 3, dtype=torch.long))
