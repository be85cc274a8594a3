"""An operator that changes its argument without saying so: TorchInductor reads it too late."""

# stage: inductor
# failure: accuracy Numbers forward
# nodes: 3

import torch

library = torch.library.Library("failures", "FRAGMENT")
library.define("clear(Tensor x) -> Tensor")


@torch.library.impl(library, "clear", "CPU")
def clear(x):
    total = x.sum()
    x.zero_()
    return total


@torch.library.register_fake("failures::clear")
def _(x):
    return x.new_empty(())


@torch.compile
def step(x):
    y = x.sin() + 1
    total = torch.ops.failures.clear(y)  # fault
    return total, y * 2


if __name__ == "__main__":
    step(torch.arange(6.0))
