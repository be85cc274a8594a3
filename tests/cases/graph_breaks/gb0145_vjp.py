"""GB0145: Unsupported custom vjp."""

import torch


class Sine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def vjp(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.cos()


@torch.compile
def f(x):
    y = x * 2
    return Sine.apply(y) + 1  # expect: GB0145 [Sine.apply(y)]


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
