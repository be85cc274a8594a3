"""An object of another class."""

# cause: `step` was type Add, is now type Multiply
# advice: Add(

import torch


class Add:
    def __call__(self, x):
        return x + 1


class Multiply:
    def __call__(self, x):
        return x * 2


@torch.compile
def f(x, step):
    return step(x)  # expect: recompile [step]


if __name__ == "__main__":
    x = torch.arange(4.0)
    f(x, Add())
    f(x, Multiply())  # fix: f(x, Add())
