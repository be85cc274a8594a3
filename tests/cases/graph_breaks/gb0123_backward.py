"""GB0123: Unsupported Tensor.backward() call."""

import torch


@torch.compile
def step(x, weight):
    loss = (x * weight).sum()
    loss.backward()  # expect: GB0123 [loss.backward()]
    return loss + 1


if __name__ == "__main__":
    step(torch.ones(2), torch.ones(2, requires_grad=True))
