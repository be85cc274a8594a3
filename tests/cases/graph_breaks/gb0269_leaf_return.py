"""GB0269: Forced graph break on leaf function."""

import torch


@torch.compile
def f(x):
    y = x * 2
    return y + 1  # expect: GB0269 [return y + 1]


if __name__ == "__main__":
    with torch._dynamo.config.patch(debug_force_graph_break_on_leaf_return=True):
        f(torch.ones(2))
