"""A thousand operations, one of which promises another shape than it makes."""

# stage: aot_eager
# failure: error RuntimeError forward
# nodes: 3

import torch


@torch.library.custom_op("failures::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, x], dim=1)


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(backend="aot_eager")
def chain(x):
    total = x
    for step in range(250):
        total = torch.sin(total) + x
        total = total * 0.5 - step / 1000
    both = twice(total).flatten()  # fault
    return both.cos()


if __name__ == "__main__":
    chain(torch.linspace(0, 1, 16).view(4, 4))
