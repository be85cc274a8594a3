"""A tensor of another size."""

# cause: size of `x` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(x, 0)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for size in (10, 12):
        x = torch.ones(size)
        # fix: torch._dynamo.mark_dynamic(x, 0)
        f(x)
