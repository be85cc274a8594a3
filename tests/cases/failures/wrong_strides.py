"""An operator whose fake kernel promises other strides, which TorchInductor relies on."""

# stage: inductor
# failure: error AssertionError forward
# nodes: 1

import torch


@torch.library.custom_op("failures::turn", mutates_args=())
def turn(x: torch.Tensor) -> torch.Tensor:
    return (x * 2).t().contiguous().t()


@turn.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile
def step(x):
    y = torch.sigmoid(x) - 0.5
    return turn(y).sum(dim=0)  # fault


if __name__ == "__main__":
    step(torch.ones(4, 3))
