"""GB0013: Attempted to represent unregistered RemovableHandle."""

import torch


@torch.compile
def f(x, handle):
    y = x * 2
    handle.remove()  # expect: GB0013 [handle.remove]
    return y + 1


if __name__ == "__main__":
    weight = torch.ones(3, requires_grad=True)
    f(torch.ones(3), weight.register_hook(lambda grad: grad * 2))
