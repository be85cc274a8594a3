"""A size that is not known is taken for none that is small."""

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false


@torch.compile
def f(x):
    return x * 2 if guard_or_false(x.shape[0] < 4) else x + 1


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        x = torch.randn(n)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        f(x)
