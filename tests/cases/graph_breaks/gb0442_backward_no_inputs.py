"""GB0442: backward() with empty inputs."""

import torch


@torch.compile
def step(x, weight):
    loss = (x * weight).sum()
    loss.backward(inputs=())  # expect: GB0442 [loss.backward(inputs=())]
    return loss + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(trace_autograd_ops=True):
        try:
            step(torch.ones(2), torch.ones(2, requires_grad=True))
        except RuntimeError:
            pass
