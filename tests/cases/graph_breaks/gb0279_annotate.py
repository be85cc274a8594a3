"""GB0279: torch.fx.traceback.annotate escaped from compiled region."""

import torch


@torch.compile
def f(x):
    y = x * 2
    mark = torch.fx.traceback.annotate({"stage": 1})
    torch._dynamo.graph_break()  # expect: GB0025 [torch._dynamo.graph_break()]; GB0279 [torch._dynamo.graph_break()]
    with mark:
        return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
