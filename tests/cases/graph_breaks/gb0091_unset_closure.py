"""GB0091: Read uninitialized cell."""

import torch


@torch.compile
def f(x):
    def offset():
        return y

    z = x + offset()  # expect: GB0091 [offset()]
    y = x * 2
    return z + y


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except NameError:
        pass
