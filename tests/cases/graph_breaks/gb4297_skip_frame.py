"""GB4297: Call to `torch._dynamo.skip_frame()`."""

import torch


@torch.compile
def f(x):
    y = x * 2
    torch._dynamo.skip_frame()  # expect: GB4297 [torch._dynamo.skip_frame()]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
