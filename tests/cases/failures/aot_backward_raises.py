"""An operator whose backward raises when it is traced."""

# stage: aot_eager
# failure: error TracedError backward
# nodes: 1

import torch


class TracedError(Exception):
    pass


@torch.library.custom_op("failures::cube", mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return x**3


@cube.register_fake
def _(x):
    return torch.empty_like(x)


def save(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def cube_backward(ctx, grad):
    if torch.compiler.is_compiling():
        raise TracedError("the gradient of cube cannot be traced")
    return grad * 3 * ctx.saved_tensors[0] ** 2


cube.register_autograd(cube_backward, setup_context=save)


@torch.compile
def step(x, y):
    return (cube(x + y) * y).sum()  # fault


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 6, requires_grad=True), torch.ones(6)).backward()
