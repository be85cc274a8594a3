"""Autocast is on in one of two calls."""

# cause: autocast(cpu) enabled was False, is now True
# advice: torch.autocast(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x @ x


if __name__ == "__main__":
    x = torch.ones(2, 2)
    f(x)  # fix: with torch.autocast("cpu", torch.bfloat16): f(x)
    with torch.autocast("cpu", torch.bfloat16):
        f(x)
