"""GB4927: autograd.grad consumed returned tensor's grad_fn."""

import torch


@torch.compile
def step(x, weight):
    y = weight * x
    loss = y.sum()
    (a,) = torch.autograd.grad(loss, weight)  # expect: GB4927 [torch.autograd.grad(loss, weight)]
    return a, loss


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        step(torch.ones(2), torch.ones(2, requires_grad=True))
