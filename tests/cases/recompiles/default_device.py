"""The default device changes after the first call."""

# cause: the torch function modes around the call changed
# advice: torch.set_default_device(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    # fix: torch.set_default_device("meta")
    f(torch.ones(2, device="meta"))
    torch.set_default_device("meta")
    f(torch.ones(2))
