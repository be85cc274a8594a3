"""GB0030: ComptimeContext graph break."""

import torch
from torch._dynamo.comptime import comptime


@torch.compile
def f(x):
    y = x.sin()
    comptime.graph_break()  # expect: GB0030 [comptime.graph_break()]
    return y.cos()


if __name__ == "__main__":
    f(torch.ones(2))
