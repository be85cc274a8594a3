"""Batch and length change together."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: torch._dynamo.mark_dynamic(x, (0, 1))

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for shape in ((4, 10), (6, 12)):
        x = torch.ones(shape)
        # fix: torch._dynamo.mark_dynamic(x, (0, 1))
        f(x)
