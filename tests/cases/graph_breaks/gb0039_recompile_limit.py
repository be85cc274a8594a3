"""GB0039: Dynamo recompile limit exceeded."""

import torch


@torch.compile
def f(x, unit):  # expect: recompile-limit [f]
    return x * len(unit)


if __name__ == "__main__":
    for size in range(10):
        f(torch.ones(2), "m" * size)
