"""A length is passed beside the tensor that has it."""

# cause: size of `x` at dimension 0 was 8, is now 12
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, length):
    return x.view(length, 2) * 2  # expect: recompile [x]


if __name__ == "__main__":
    for length in (4, 6):
        f(torch.ones(length * 2), length)
