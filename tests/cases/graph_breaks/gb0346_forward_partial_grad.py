"""GB0346: autograd.Function.apply: non-function or method forward."""

import functools

import torch


class Scale(torch.autograd.Function):
    forward = functools.partial(lambda ctx, x: x * 2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def f(x):
    y = x + 1
    return Scale.apply(y)  # expect: GB0346 [Scale.apply(y)]


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True))
