"""GB0140: Unsupported autograd.Function method."""

import torch


class Scale(torch.autograd.Function):
    limit = 3

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@torch.compile
def f(x):
    y = x + 1
    Scale.name(3)  # expect: GB0140 [Scale.name(3)]
    return Scale.apply(y)


if __name__ == "__main__":
    try:
        f(torch.ones(2, requires_grad=True))
    except Exception:
        pass
