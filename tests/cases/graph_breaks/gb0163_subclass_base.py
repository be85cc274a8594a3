"""GB0163: Unsupported tensor subclass attribute access."""

import torch


class Tagged(torch.Tensor):
    pass


@torch.compile
def f(x):
    y = x.view(2, 2)
    return y + y._base.numel()  # expect: GB0163 [y._base]


if __name__ == "__main__":
    f(torch.ones(4).as_subclass(Tagged))
