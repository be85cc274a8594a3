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
    f(torch.ones(4), Add())
    f(torch.ones(4), Multiply())  # fix: f(torch.ones(4), Add())
