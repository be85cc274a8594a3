"""A list of numbers, then a tensor."""

# cause: `scale` was type list, is now a tensor
# advice: none
# fix: none (no advice is sure)

import torch


@torch.compile
def f(x, scale):
    return x * torch.as_tensor(scale)  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in ([2.0, 3.0], torch.tensor([2.0, 3.0])):
        f(torch.ones(2), scale)
