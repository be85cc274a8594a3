"""An image with its channels last."""

# cause: stride of `x` at dimension 1 was 16, is now 1
# advice: x.contiguous()

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    image = torch.ones(2, 3, 4, 4)
    for x in (image, image.to(memory_format=torch.channels_last)):
        f(x)  # fix: f(x.contiguous())
