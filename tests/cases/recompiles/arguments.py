"""Another number of arguments."""

# cause: length of `xs` was 2, is now 3
# advice: torch.stack(xs)

import torch


@torch.compile
def f(*xs):
    return torch.stack(xs).sum(0)  # fix: return xs[0].sum(0)  # expect: recompile [xs]


if __name__ == "__main__":
    for count in (2, 3):
        xs = [torch.ones(4) for _ in range(count)]
        # fix: xs = [torch.stack(xs)]
        # fix: torch._dynamo.mark_dynamic(xs[0], 0)
        f(*xs)
