"""GB1381: autograd.grad with already consumed grad_fn."""

import torch


@torch.compile
def step(x, weight):
    y = weight.sin()
    loss = (y * x).sum()
    (a,) = torch.autograd.grad(loss, weight)  # expect: GB4927 [torch.autograd.grad(loss, weight)]
    (b,) = torch.autograd.grad(loss, weight)  # expect: GB1381 [torch.autograd.grad(loss, weight)]; GB0372 [torch.autograd.grad(loss, weight)]
    return a.detach() + b.detach()


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        try:
            step(torch.ones(2), torch.ones(2, requires_grad=True))
        except RuntimeError:
            pass
