"""The lowering of cos computes something else, in the backward of an autograd.Function."""

# stage: inductor
# failure: accuracy Numbers backward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings

aten = torch.ops.aten


def broken(x):
    return lowerings[aten.sin.default](x)


lowerings[aten.cos.default] = broken


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x.cos()  # fault


@torch.compile
def step(x, w):
    y = torch.softmax(x @ w, dim=1)
    y = Sine.apply(y * 3)
    return (y + x).exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(6, 8, requires_grad=True), torch.randn(8, 8)).sum().backward()
