"""Code that asks which tensor it gets."""

# cause: `x` is no longer the same object (torch.Tensor)
# advice: none
# fix: none (what a tensor is remembered by is for its author to say)

import torch

seen: dict[int, bool] = {}


@torch.compile
def f(x):
    seen[id(x)] = True  # expect: recompile [x]
    return x.sin()


if __name__ == "__main__":
    kept = [torch.ones(3) for _ in range(2)]
    for x in kept:
        f(x)
