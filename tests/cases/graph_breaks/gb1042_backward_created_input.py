"""GB1042: backward() with in-graph created tensor."""

import torch


@torch.compile
def step(x):
    weight = x.detach().requires_grad_()  # expect: GB8985 [x.detach().requires_grad_()]
    loss = (x * weight).sum()
    loss.backward(inputs=[weight])  # expect: GB1042 [loss.backward(inputs=[weight])]; GB4927 [loss.backward(inputs=[weight])]
    return loss + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        step(torch.ones(2))
