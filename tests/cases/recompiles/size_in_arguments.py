"""A tensor of another size among positional arguments."""

# cause: size of `args[0]` at dimension 0 was 10, is now 12
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(*args):
    return args[0] * 2  # expect: recompile [args[0]]


if __name__ == "__main__":
    for size in (10, 12):
        f(torch.ones(size))
