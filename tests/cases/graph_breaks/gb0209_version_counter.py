"""GB0209: torch.autograd._unsafe_preserve_version_counter escaped from compiled region."""

import torch


@torch.compile
def f(x):
    y = x * 2
    guard = torch.autograd._unsafe_preserve_version_counter(x)
    return y, guard  # expect: GB0209 [return y, guard]


if __name__ == "__main__":
    f(torch.ones(2))
