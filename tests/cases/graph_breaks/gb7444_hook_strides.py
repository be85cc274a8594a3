"""GB7444: register_hook with stride-dependent code."""

import torch


def hook(grad):
    if grad.is_contiguous():
        return grad * 2
    return grad


@torch.compile
def f(x):
    y = x * 2
    y.register_hook(hook)  # expect: GB7444 [y.register_hook(hook)]
    return y.sum()


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True)).backward()
