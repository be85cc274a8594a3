"""An autograd.Function, which a copy of the graph cannot call; the graph before it can be checked."""

# stage: unchecked

import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@torch.compile
def f(x):
    y = x.cos()
    torch._dynamo.graph_break()
    return Double.apply(y.sin()).sum()


if __name__ == "__main__":
    f(torch.ones(8, requires_grad=True)).backward()
