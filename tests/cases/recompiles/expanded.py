"""A tensor that was expanded."""

# cause: stride of `x` at dimension 0 was 3, is now 0
# advice: x.contiguous()

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(4, 3), torch.ones(1, 3).expand(4, 3)):
        f(x)  # fix: f(x.contiguous())
