"""GB0242: Attempted to call op with non-contiguous `out=` tensor."""

import torch


@torch.compile
def f(x, out):
    y = x * 2
    torch.add(y, x, out=out)  # expect: GB0242 [torch.add(y, x, out=out)]
    return out + 1


if __name__ == "__main__":
    f(torch.ones(2, 3), torch.empty(3, 2).t())
