"""The first batch has one sample: its size is part of what was compiled."""

# cause: size of `x` at dimension 0 was 1, is now 8
# advice: torch._dynamo.decorators.mark_unbacked(x, 0)

import torch


@torch.compile(dynamic=True)
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (1, 8):
        x = torch.ones(size, 3)
        # fix: torch._dynamo.decorators.mark_unbacked(x, 0)
        f(x)
