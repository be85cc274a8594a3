"""GB7299: _autograd_grad with lost grad_fn linkage."""

import torch


@torch.compile
def f(x, fn):
    y = x * 2
    return fn(y)[0] + 1  # expect: GB7299 [fn(y)]


if __name__ == "__main__":
    _, pull = torch.func.vjp(torch.sin, torch.ones(2))
    f(torch.ones(2), pull)
