"""GB0275: torch._dynamo.step_unsupported() with empty checkpoint."""

import torch


@torch.compile
def f(x):
    y = x * 2
    torch._dynamo.step_unsupported()  # expect: GB0275 [torch._dynamo.step_unsupported()]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
