"""GB0010: Attempted to read a deleted variable."""

import torch


@torch.compile
def f(x):
    y = x + 1

    def read():
        return y

    del y  # expect(<2.15): GB0082 [y]
    return read()  # expect(>=2.15): GB0010 [read()]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except NameError:
        pass
