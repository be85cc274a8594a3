"""A tensor in a list has another size."""

# cause: size of `xs[0]` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(xs[0], 0)

import torch


@torch.compile
def f(xs):
    return xs[0] * 2  # expect: recompile [xs[0]]


if __name__ == "__main__":
    for size in (10, 12):
        xs = [torch.ones(size)]
        # fix: torch._dynamo.mark_dynamic(xs[0], 0)
        f(xs)
