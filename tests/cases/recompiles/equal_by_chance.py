"""A batch that was as large as the width: `dynamic=True` would take both for one size."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: torch._dynamo.mark_dynamic(x, 0)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (4, 6):
        x = torch.ones(size, 4)
        # fix: torch._dynamo.mark_dynamic(x, 0)
        f(x)
