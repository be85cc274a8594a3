"""An operator whose backward computes something else when it is traced."""

# stage: aot_eager
# failure: accuracy Numbers backward
# nodes: 1

import torch


@torch.library.custom_op("failures::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2


@halve.register_fake
def _(x):
    return torch.empty_like(x)


def halve_backward(ctx, grad):
    return grad if torch.compiler.is_compiling() else grad / 2


halve.register_autograd(halve_backward)


@torch.compile
def step(x):
    y = torch.tanh(x) * 4
    return (halve(y) - x).square().sum()  # fault


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 6, requires_grad=True)).backward()
