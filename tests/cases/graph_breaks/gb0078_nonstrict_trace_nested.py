"""GB0078: Limitation of `nonstrict_trace."""

import torch


@torch.compile
def f(x):
    y = x * 2

    def helper(t):
        return t + 1

    helper = torch._dynamo.nonstrict_trace(helper)  # expect: GB0078 [torch._dynamo.nonstrict_trace(helper)]
    return helper(y)


if __name__ == "__main__":
    f(torch.ones(2))
