"""GB0164: Unsupported tensor subclass overridden attribute access."""

import torch


class Attr:
    def __get__(self, obj, owner):
        return 3


class Tagged(torch.Tensor):
    ndim = Attr()


@torch.compile
def f(x):
    y = x * 2
    return y + y.ndim  # expect: GB0164 [y.ndim]


if __name__ == "__main__":
    f(torch.ones(2).as_subclass(Tagged))
