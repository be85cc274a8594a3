"""An operator without a meta kernel, where no graph break is allowed."""

# stage: eager
# failure: error Unsupported forward
# nodes: 0

import torch

library = torch.library.Library("failures", "FRAGMENT")
library.define("double(Tensor x) -> Tensor")


@torch.library.impl(library, "double", "CPU")
def double(x):
    return torch.from_numpy(x.numpy() * 2)


@torch.compile(fullgraph=True)
def step(x):
    return torch.ops.failures.double(x + 1) - 1  # fault


if __name__ == "__main__":
    step(torch.arange(4.0))
