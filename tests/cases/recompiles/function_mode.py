"""A mode that sees all torch functions is on in one of two calls."""

# cause: the torch function modes around the call changed
# advice: with

import torch
from torch.overrides import TorchFunctionMode


class Seen(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    x = torch.ones(2)
    f(x)  # fix: with Seen(): f(x)
    with Seen():
        f(x)
