"""GB4695: torch.jit.script/freeze modules unsupported."""

import torch


@torch.compile
def f(x, module):
    y = x * 2
    return module(y) + 1  # expect: GB4695 [module(y)]


if __name__ == "__main__":
    f(torch.ones(2), torch.jit.script(torch.nn.Linear(2, 2)))
