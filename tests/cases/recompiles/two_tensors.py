"""Two tensors of independent sizes, both of which change."""

# cause: size of `x` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(y, 0)

import torch


@torch.compile
def f(x, y):
    return x.sum() + y.sum()  # expect: recompile [x]


if __name__ == "__main__":
    for sizes in ((10, 20), (12, 24)):
        x, y = (torch.ones(size) for size in sizes)
        # fix: torch._dynamo.mark_dynamic(x, 0)
        # fix: torch._dynamo.mark_dynamic(y, 0)
        f(x, y)
