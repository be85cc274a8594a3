"""What requires gradients, in which grad mode, and results that are inputs of the next call."""

import sys

import torch


@torch.compile
def _scale(x):
    return x * 2


def requires_grad_changes():
    _scale(torch.ones(3))
    _scale(torch.ones(3, requires_grad=True))
    _scale(torch.ones(3))


def grad_mode_changes():
    x = torch.ones(3, requires_grad=True)
    _scale(x)
    with torch.no_grad():
        _scale(x)
    _scale(x)


def result_without_grad_comes_back():
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = _scale(x)
    _scale(y)


def result_with_grad_comes_back():
    y = _scale(torch.ones(3, requires_grad=True))
    y = _scale(y)
    _scale(y.detach()).sum()
    y.sum().backward()


def integer_result_comes_back():
    @torch.compile
    def f(x, index):
        return x * 2, index + 1

    x, index = torch.ones(3, requires_grad=True), torch.zeros(3, dtype=torch.long)
    for _ in range(3):
        x, index = f(x, index)


def partly_detached_results():
    @torch.compile
    def f(x, y):
        return x + y, (x * y).detach()

    x, y = torch.ones(3, requires_grad=True), torch.ones(3)
    for _ in range(3):
        x, y = f(x, y)
    x.sum().backward()


def no_grad_inside():
    @torch.compile
    def f(x, w):
        with torch.no_grad():
            y = x @ w
        return y, x * w.sum()

    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    y, z = f(x, w)
    f(y, w)
    f(z, w)


def requires_grad_set_inside():
    @torch.compile
    def f(x):
        x.requires_grad_(True)
        return x * 2

    x = torch.ones(3)
    f(x)
    f(x)


def frozen_parameter():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    compiled(torch.ones(1, 3)).sum().backward()
    model.weight.requires_grad_(False)
    compiled(torch.ones(1, 3)).sum().backward()


def gradients_accumulate():
    model = torch.nn.Linear(3, 3)
    compiled = torch.compile(model)
    for _ in range(3):
        compiled(torch.ones(1, 3)).sum().backward()
    model.zero_grad(set_to_none=True)
    compiled(torch.ones(1, 3)).sum().backward()


def gradient_as_input():
    @torch.compile
    def f(w):
        return w - 0.1 * w.grad if w.grad is not None else w * 1

    w = torch.ones(3, requires_grad=True)
    f(w)
    w.sum().backward()
    with torch.no_grad():
        f(w)


def own_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x

    @torch.compile
    def f(x):
        return Double.apply(x).sin()

    f(torch.ones(3, requires_grad=True)).sum().backward()
    f(torch.ones(5, requires_grad=True)).sum().backward()


def checkpointed():
    model = torch.nn.Linear(3, 3)

    @torch.compile
    def f(x):
        return torch.utils.checkpoint.checkpoint(lambda y: model(y).relu(), x, use_reentrant=False)

    f(torch.ones(2, 3, requires_grad=True)).sum().backward()
    f(torch.ones(4, 3, requires_grad=True)).sum().backward()


def backward_twice_over():
    @torch.compile
    def f(x):
        return x.sin() * x

    x = torch.ones(3, requires_grad=True)
    (grad,) = torch.autograd.grad(f(x).sum(), x)
    f(grad)
    f(x + grad)


def inference_tensor():
    with torch.inference_mode():
        x = torch.ones(3)
        _scale(x)
    with torch.no_grad():
        _scale(x)
    _scale(torch.ones(3))


def grad_mode_set_inside():
    @torch.compile
    def f(x):
        y = x * 2
        torch.set_grad_enabled(False)
        return y + 1

    x = torch.ones(3, requires_grad=True)
    f(x)
    f(x)
    torch.set_grad_enabled(True)
    f(x)


def saved_tensors_of_dynamic_sizes():
    @torch.compile
    def f(x, w):
        return (x @ w).relu() * x.shape[0]

    w = torch.ones(3, 3, requires_grad=True)
    for size in (2, 4, 6):
        f(torch.ones(size, 3), w).sum().backward()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
