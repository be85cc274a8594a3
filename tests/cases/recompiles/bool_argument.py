"""A flag as an argument."""

# cause: `flag` was True, is now False
# advice: torch.where(flag

import torch


@torch.compile
def f(x, flag):
    return x * 2 if flag else -x  # fix: return torch.where(flag, x * 2, -x)  # expect: recompile [flag]


if __name__ == "__main__":
    for flag in (True, False):
        f(torch.ones(4), flag)  # fix: f(torch.ones(4), torch.tensor(flag))
