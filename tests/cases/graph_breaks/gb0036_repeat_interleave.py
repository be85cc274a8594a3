"""GB0036: Dynamic shape operator. Elements that are repeated as often as a tensor says."""

import torch


@torch.compile
def f(x, lengths):
    y = x * 2
    rows = y.repeat_interleave(lengths, dim=0)  # expect: GB0036 [y.repeat_interleave(lengths, dim=0)]
    return rows + 1


if __name__ == "__main__":
    f(torch.tensor([[1.0, -4.0], [3.0, 2.0]]), torch.tensor([2, 1]))
