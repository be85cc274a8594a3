"""GB0119: Uninitialized nn.Module."""

import torch


class Plain(torch.nn.Module):
    def scale(self, x):
        return x * 2


@torch.compile
def f(x, module):
    y = x + 1
    return module.scale(y)  # expect: GB0119 [module.scale]


if __name__ == "__main__":
    f(torch.ones(2), Plain.__new__(Plain))
