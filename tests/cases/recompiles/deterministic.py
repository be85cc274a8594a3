"""Deterministic algorithms are asked for after the first call."""

# cause: deterministic algorithms was False, is now True
# advice: torch.use_deterministic_algorithms(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    # fix: torch.use_deterministic_algorithms(True)
    f(torch.ones(2))
    torch.use_deterministic_algorithms(True)
    f(torch.ones(2))
