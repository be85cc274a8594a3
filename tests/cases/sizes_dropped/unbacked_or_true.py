"""A size that is not known is taken for one that is large."""

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_true


@torch.compile
def f(x):
    return x.sum(0) if guard_or_true(x.shape[0] > 5) else x.sum(0) / 2


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        x = torch.randn(n, 3)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        f(x)
