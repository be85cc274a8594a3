"""A NumPy array of another size."""

# cause: size of `x` at dimension 0 was 10, is now 12
# advice: dynamic=True

import numpy
import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return torch.from_numpy(x) * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (10, 12):
        x = numpy.ones(size)
        f(x)
