"""A matrix and a vector share the size of an inner product."""

# cause: size of `a` at dimension 1 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(b, 0)

import torch


@torch.compile
def f(a, b):
    return a @ b  # expect: recompile [a]


if __name__ == "__main__":
    for size in (10, 12):
        a, b = torch.ones(4, size), torch.ones(size)
        # fix: torch._dynamo.mark_dynamic(a, 1)
        # fix: torch._dynamo.mark_dynamic(b, 0)
        f(a, b)
