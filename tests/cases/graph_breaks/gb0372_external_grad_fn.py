"""GB0372: autograd.grad with external grad_fn."""

import torch


@torch.compile
def step(x, y, weight):
    loss = (y * x).sum()
    (a,) = torch.autograd.grad(loss, weight)  # expect: GB0372 [torch.autograd.grad(loss, weight)]
    return a + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        leaf = torch.ones(2, requires_grad=True)
        step(torch.ones(2), leaf * 3, leaf)
