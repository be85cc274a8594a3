"""GB6297: autograd.Function.apply: duplicate tensor input."""

import torch


class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


@torch.compile
def f(x):
    y = x + 1
    return Mul.apply(y, y)  # expect: GB6297 [Mul.apply(y, y)]


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
