"""Another number of arguments."""

# cause: length of `xs` was 2, is now 3
# advice: has its own graph, compiled once
# fix: none (each number of arguments is a graph of its own)

import torch


@torch.compile
def f(*xs):
    return torch.stack(xs).sum(0)  # expect: recompile [xs]


if __name__ == "__main__":
    for count in (2, 3):
        xs = [torch.ones(4) for _ in range(count)]
        f(*xs)
