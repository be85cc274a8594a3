"""Images of two resolutions through a convolution."""

# cause: size of `x` at dimension 2 was 16, is now 24
# advice: torch._dynamo.mark_dynamic(x, (2, 3))

import torch


conv = torch.nn.Conv2d(3, 4, 3)


@torch.compile
def f(x):
    return conv(x).mean()  # expect: recompile [x]


if __name__ == "__main__":
    for n in (16, 24):
        x = torch.ones(1, 3, n, n)
        # fix: torch._dynamo.mark_dynamic(x, (2, 3))
        f(x)
