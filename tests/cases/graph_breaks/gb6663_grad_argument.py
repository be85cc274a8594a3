"""GB6663: autograd.grad with unsupported argument type."""

import torch


@torch.compile
def step(x, weight):
    loss = (x * weight).sum()
    (grad,) = torch.autograd.grad(loss, iter([weight]))  # expect: GB6663 [torch.autograd.grad(loss, iter([weight]))]
    return grad.detach()


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        try:
            step(torch.ones(2), torch.ones(2, requires_grad=True))
        except Exception:
            pass
