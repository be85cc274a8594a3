"""An operator made of others, which computes something else when it is traced."""

# stage: aot_eager
# failure: accuracy Numbers forward
# nodes: 1

import torch
from torch._subclasses.functional_tensor import FunctionalTensor

library = torch.library.Library("failures", "FRAGMENT")
library.define("shift(Tensor x, float by) -> Tensor")


def shift(x, by):
    if type(x) is FunctionalTensor:
        by = -by
    return x + by


library.impl("shift", shift, "CompositeImplicitAutograd")


@torch.compile
def step(x):
    y = torch.exp(-x)
    return torch.ops.failures.shift(y * 2, 0.5) / 3  # fault


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 6))
