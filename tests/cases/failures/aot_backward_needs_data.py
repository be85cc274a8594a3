"""An operator whose backward looks at the numbers, which are not there when it is traced."""

# stage: aot_eager
# failure: error GuardOnDataDependentSymNode backward
# nodes: 1

import torch


@torch.library.custom_op("failures::clip", mutates_args=())
def clip(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-1, 1)


@clip.register_fake
def _(x):
    return torch.empty_like(x)


def clip_backward(ctx, grad):
    if grad.abs().max() > 100:
        grad = grad / 100
    return grad


clip.register_autograd(clip_backward)


@torch.compile(fullgraph=True)
def step(x):
    return (clip(x * 2) * 3).sum()  # fault


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 6, requires_grad=True)).backward()
