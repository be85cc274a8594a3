"""A batch of one where sizes are dynamic already."""

# cause: size of `x` at dimension 0 was at least 2, is now 1
# advice: torch._dynamo.decorators.mark_unbacked(x, 0)

import torch


@torch.compile(dynamic=True)
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (8, 1):
        x = torch.ones(size, 4)
        # fix: torch._dynamo.decorators.mark_unbacked(x, 0)
        f(x)
