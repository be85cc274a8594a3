"""The default dtype changes after the first call."""

# cause: default dtype was torch.float32, is now torch.float64
# advice: torch.set_default_dtype(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x + torch.ones(2)


if __name__ == "__main__":
    # fix: torch.set_default_dtype(torch.float64)
    f(torch.ones(2, dtype=torch.float64))
    torch.set_default_dtype(torch.float64)
    f(torch.ones(2, dtype=torch.float64))
