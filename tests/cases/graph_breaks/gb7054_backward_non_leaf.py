"""GB7054: backward() with non-leaf tensor."""

import torch


@torch.compile
def step(x, weight):
    loss = (x * weight).sum()
    loss.backward(inputs=[loss])  # expect: GB7054 [loss.backward(inputs=[loss])]
    return loss + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        step(torch.ones(2), torch.ones(2, requires_grad=True))
