"""The stride of a dimension of size 1 differs: the tensor is contiguous all the same."""

# cause: stride of `x` at dimension 0 was 8, is now 16
# advice: x.clone(memory_format=torch.contiguous_format)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for x in (torch.ones(1, 8), torch.ones(1, 16)[:, :8]):
        f(x)  # fix: f(x.clone(memory_format=torch.contiguous_format))
