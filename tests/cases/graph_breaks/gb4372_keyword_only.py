"""GB4372: autograd_function_kwonly_args."""

import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, factor=2):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def f(x):
    y = x + 1
    return Scale.apply(y, factor=3)  # expect: GB4372 [Scale.apply(y, factor=3)]


if __name__ == "__main__":
    try:
        f(torch.ones(2, requires_grad=True))
    except TypeError:
        pass
