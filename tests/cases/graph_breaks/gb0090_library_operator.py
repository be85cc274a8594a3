"""GB0090: Operator does not support running with fake tensors."""

import torch

LIBRARY = torch.library.Library("cases_plain", "FRAGMENT")
if not hasattr(torch.ops.cases_plain, "twice"):
    LIBRARY.define("twice(Tensor x) -> Tensor")
    LIBRARY.impl("twice", lambda x: x.clone() * 2, "CPU")


@torch.compile
def f(x):
    y = x.sin()
    z = torch.ops.cases_plain.twice(y)  # expect: GB0090 [torch.ops.cases_plain.twice(y)]
    return z.cos()


if __name__ == "__main__":
    f(torch.ones(2))
