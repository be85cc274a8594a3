"""The size of a pooling kernel is that of the input."""

# cause: size of `x` at dimension 2 was 8, is now 10
# advice: operations on the whole tensor

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return torch.nn.functional.avg_pool1d(x, x.shape[-1])  # fix: return x.mean(-1, keepdim=True)  # operations on the whole tensor  # expect: recompile [x]


if __name__ == "__main__":
    for size in (8, 10):
        x = torch.ones(1, 2, size)
        f(x)
