"""A result that is fed back has other strides where its size is 1, as with TorchInductor."""

# cause: stride of `x` at dimension 0 was 4, is now 1
# advice: x.clone(memory_format=torch.contiguous_format)

import torch


@torch.compile
def f(x):
    return (x.transpose(0, 1) + 1).transpose(0, 1)  # expect: recompile [x]


if __name__ == "__main__":
    x = torch.ones(1, 4)
    for _ in range(3):
        x = f(x)  # fix: x = f(x.clone(memory_format=torch.contiguous_format))
