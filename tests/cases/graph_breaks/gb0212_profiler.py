"""GB0212: torch.profiler object escaped from compiled region."""

import torch


@torch.compile
def f(x):
    y = x * 2
    profiler = torch.profiler.profile()
    return y, profiler  # expect: GB0212 [return y, profiler]


if __name__ == "__main__":
    f(torch.ones(2))
