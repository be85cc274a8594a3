"""The number of threads changes after the first call."""

# cause: num threads was 2, is now 3
# advice: torch.set_num_threads(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    torch.set_num_threads(2)  # fix: torch.set_num_threads(3)
    f(torch.ones(2))
    torch.set_num_threads(3)
    f(torch.ones(2))
