"""GB0025: Call to `torch._dynamo.graph_break()`."""

import torch


@torch.compile
def f(x):
    y = x.sin()
    torch._dynamo.graph_break()  # expect: GB0025 [torch._dynamo.graph_break()]
    return y.cos()


if __name__ == "__main__":
    f(torch.ones(2))
