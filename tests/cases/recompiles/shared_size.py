"""Two tensors that share a size that changes."""

# cause: size of `a` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(b, 0)

import torch


@torch.compile
def f(a, b):
    return a + b  # expect: recompile [a]


if __name__ == "__main__":
    for size in (10, 12):
        a, b = torch.ones(size), torch.ones(size)
        # fix: torch._dynamo.mark_dynamic(a, 0)
        # fix: torch._dynamo.mark_dynamic(b, 0)
        f(a, b)
