"""An autograd.Function: neither running it as it is nor its copy is at fault."""

# stage: none

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.half = x / 2
        return x * 2, x.detach()

    @staticmethod
    def backward(ctx, gradient, _):
        (x,) = ctx.saved_tensors
        return gradient * x / ctx.half


@torch.compile
def f(x):
    y = x.cos()
    torch._dynamo.graph_break()
    return sum(Double.apply(y.sin())).sum()


if __name__ == "__main__":
    f(torch.ones(8, requires_grad=True)).backward()
