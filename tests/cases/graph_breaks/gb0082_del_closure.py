"""GB0082: Missing bytecode handler."""

import torch


@torch.compile
def f(x, cell):
    y = x * 2

    def set_it():
        nonlocal cell
        cell = y

    set_it()
    del cell  # expect(<2.15): GB0082 [cell]
    return y


if __name__ == "__main__":
    f(torch.ones(2), 3)
