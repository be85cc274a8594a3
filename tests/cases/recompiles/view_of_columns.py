"""A strided view."""

# cause: stride of `x` at dimension 0 was 8, is now 4
# advice: x.contiguous()

import torch


@torch.compile
def f(x):
    return x + 1  # expect: recompile [x]


if __name__ == "__main__":
    base = torch.ones(6, 8)
    for x in (base[:, :4], base[:, :4].contiguous()):
        f(x)  # fix: f(x.contiguous())
