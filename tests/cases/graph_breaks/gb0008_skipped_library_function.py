"""GB0008: Attempted to inline function marked as skipped."""

import torch


@torch.compile
def f(x, optimizer):
    y = x * 2
    optimizer.zero_grad()  # expect: GB0008 [optimizer.zero_grad()]
    return y


if __name__ == "__main__":
    f(torch.ones(2), torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1))
