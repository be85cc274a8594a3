"""The same break in two compilations is one finding."""

import torch


@torch.compile(dynamic=False)
def f(x):  # the second size compiles everything again
    y = x * 2  # expect: recompile [x]
    print(end="")  # expect: GB0059 [print(end="")]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
    f(torch.ones(3))
