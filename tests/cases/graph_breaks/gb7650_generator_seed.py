"""GB7650: torch.Generator method."""

import torch

RNG = torch.Generator()


@torch.compile
def f(x):
    y = x * 2
    RNG.manual_seed(3)  # expect: GB7650 [RNG.manual_seed(3)]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
