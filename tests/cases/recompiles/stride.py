"""A transposed tensor: the same shape, laid out otherwise."""

# cause: stride of `x` at dimension 0 was 4, is now 1
# advice: x.contiguous()

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4, 4), torch.ones(4, 4).t()):
        f(x)  # fix: f(x.contiguous())
