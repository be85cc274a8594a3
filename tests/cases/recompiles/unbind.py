"""A tensor is taken apart."""

# cause: size of `x` at dimension 0 was 4, is now 6
# advice: operations on the whole tensor

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    first, *others = x.unbind(0)  # fix: first = x[0]  # operations on the whole tensor  # expect: recompile [x]
    return first + len(others)  # fix: return first + (x.shape[0] - 1)


if __name__ == "__main__":
    for size in (4, 6):
        x = torch.ones(size, 3)
        f(x)
