"""The last batch has one sample: torch compiles a size of 1 apart, whatever is dynamic."""

# cause: size of `x` at dimension 0 was at least 2, is now 1
# advice: torch._dynamo.decorators.mark_unbacked(x, 0)

import torch


@torch.compile(dynamic=True)
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (8, 1):
        x = torch.ones(size, 3)
        # fix: torch._dynamo.decorators.mark_unbacked(x, 0)
        f(x)
