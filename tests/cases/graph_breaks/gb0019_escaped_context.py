"""GB0019: AutogradFunctionContextVariable escaped Dynamo-traced region."""

import torch

KEPT = []


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        KEPT.append(ctx)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def f(x):
    return Double.apply(x + 1)  # expect: GB0019 [return Double.apply(x + 1)]


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
