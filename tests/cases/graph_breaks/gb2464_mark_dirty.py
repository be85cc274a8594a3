"""GB2464: autograd.Function.apply: mark_dirty input not returned."""

import torch


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)  # expect: GB2019 [ctx.mark_dirty(x)]; GB0092 [ctx.mark_dirty(x)]
        x.add_(1)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


@torch.compile
def f(x):
    y = x * 2
    return AddOne.apply(y)  # expect: GB2464 [AddOne.apply(y)]


if __name__ == "__main__":
    try:
        f(torch.ones(2, requires_grad=True))
    except RuntimeError:
        pass
