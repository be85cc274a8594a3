"""A region in which graph breaks are errors."""

import torch


@torch.compile
def f(x):
    with torch._dynamo.error_on_graph_break(True):
        print("x", x.shape)  # expect: GB0059 [print("x", x.shape)]
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
