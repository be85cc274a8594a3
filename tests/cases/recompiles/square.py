"""Both sizes of a square change."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: torch._dynamo.mark_dynamic(x, (0, 1))

import torch


@torch.compile
def f(x):
    return x @ x  # expect: recompile [x]


if __name__ == "__main__":
    for size in (4, 6):
        x = torch.ones(size, size)
        # fix: torch._dynamo.mark_dynamic(x, (0, 1))
        f(x)
