"""GB0000: All __torch_function__ overrides returned NotImplemented due to TypeError from user code."""

import torch


class Unit:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


@torch.compile
def scale(x, unit):
    x = x * 2
    y = torch.mul(x, unit)  # expect: GB0000 [torch.mul(x, unit)]
    return y + 1


if __name__ == "__main__":
    try:
        scale(torch.ones(3), Unit())
    except TypeError:
        pass
