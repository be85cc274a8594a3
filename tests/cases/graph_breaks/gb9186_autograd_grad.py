"""GB9186: using `torch.autograd.grad` with `torch._dynamo.config.trace_autograd_ops=False`."""

import torch


@torch.compile
def step(x, weight):
    loss = (x * weight).sum()
    (grad,) = torch.autograd.grad(loss, weight)  # expect: GB9186 [torch.autograd.grad(loss, weight)]
    return grad * 2


if __name__ == "__main__":
    step(torch.ones(2), torch.ones(2, requires_grad=True))
