"""Operators that take functions: cond, scan, while_loop, map, checkpoint, vmap, grad."""

import sys

import torch
from torch._higher_order_ops import associative_scan, map as map_operator, scan, while_loop


def cond_on_data():
    @torch.compile
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    for size in (2, 3, 4):
        f(torch.ones(size))


def cond_on_size():
    @torch.compile
    def f(x):
        return torch.cond(x.shape[0] > 3, lambda x: x + 1, lambda x: x - 1, (x,))

    for size in (2, 3, 5, 6):
        f(torch.ones(size))


def cond_with_closure():
    @torch.compile
    def f(x, scale):
        return torch.cond(x.sum() > 0, lambda x: x * scale, lambda x: x, (x,))

    f(torch.ones(2), torch.tensor(2.0))
    f(torch.ones(2), torch.tensor(3.0))


def cond_branches_differ():
    @torch.compile
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.float(), lambda x: x.double(), (x,))

    try:
        f(torch.ones(2))
    except Exception:
        pass


def cond_mutates():
    @torch.compile
    def f(x):
        return torch.cond(x.sum() > 0, lambda x: x.add_(1), lambda x: x, (x,))

    try:
        f(torch.ones(2))
    except Exception:
        pass


def scanned():
    def add(carry, x):
        return carry + x, carry * x

    @torch.compile
    def f(init, xs):
        return scan(add, init, xs)

    for size in (3, 4):
        f(torch.zeros(2), torch.ones(size, 2))


def scanned_associatively():
    @torch.compile
    def f(xs):
        return associative_scan(lambda a, b: a + b, xs, 0, combine_mode="generic")

    for size in (4, 8):
        f(torch.ones(size, 2))


def looped_while():
    @torch.compile
    def f(n, x):
        return while_loop(lambda n, x: n < 4, lambda n, x: (n + 1, x * 2), (n, x))

    f(torch.tensor(0), torch.ones(2))
    f(torch.tensor(1), torch.ones(3))


def mapped():
    @torch.compile
    def f(xs, y):
        return map_operator(lambda x, y: x + y, xs, y)

    f(torch.ones(3, 2), torch.ones(2))
    f(torch.ones(4, 2), torch.ones(2))


def vectorised():
    @torch.compile
    def f(x, y):
        return torch.vmap(torch.dot)(x, y)

    for size in (3, 4, 5):
        f(torch.ones(size, 2), torch.ones(size, 2))


def gradient_of_function():
    @torch.compile
    def f(x):
        return torch.func.grad(lambda x: x.sin().sum())(x)

    for size in (3, 4):
        f(torch.ones(size))


def jacobian():
    @torch.compile
    def f(x):
        return torch.func.jacrev(lambda x: x.sin())(x)

    f(torch.ones(3))
    f(torch.ones(4))


def hessian():
    @torch.compile
    def f(x):
        return torch.func.hessian(lambda x: x.sin().sum())(x)

    f(torch.ones(3))


def functional_call():
    model = torch.nn.Linear(3, 3)

    @torch.compile
    def f(parameters, x):
        return torch.func.functional_call(model, parameters, (x,))

    parameters = dict(model.named_parameters())
    f(parameters, torch.ones(2, 3))
    f({name: value.detach() for name, value in parameters.items()}, torch.ones(2, 3))


def gradients_per_sample():
    model = torch.nn.Linear(3, 1)
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters, x):
        return torch.func.functional_call(model, parameters, (x,)).sum()

    @torch.compile
    def f(xs):
        return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, xs)

    for size in (2, 3):
        f(torch.ones(size, 3))


def flexible_attention():
    from torch.nn.attention.flex_attention import flex_attention

    @torch.compile
    def f(q, k, v):
        return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + (i - j))

    q = torch.randn(1, 1, 16, 16)
    f(q, q, q)


def own_operator():
    @torch.library.custom_op("truth::triple", mutates_args=())
    def triple(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    @triple.register_fake
    def _(x):
        return torch.empty_like(x)

    @torch.compile
    def f(x):
        return triple(x) + 1

    for size in (2, 3, 4):
        f(torch.ones(size))


def own_operator_transposes():
    @torch.library.custom_op("truth::turned", mutates_args=())
    def turned(x: torch.Tensor) -> torch.Tensor:
        return x.t().contiguous().t()

    @turned.register_fake
    def _(x):
        return torch.empty_like(x)

    @torch.compile
    def f(x):
        return turned(x + 1)

    x = torch.ones(3, 3)
    for _ in range(3):
        x = f(x)


def own_operator_mutates():
    @torch.library.custom_op("truth::fill", mutates_args=("x",))
    def fill(x: torch.Tensor, value: float) -> None:
        x.fill_(value)

    @torch.compile
    def f(x, value):
        fill(x, value)
        return x * 2

    for value in (1.0, 2.0, 3.0):
        f(torch.ones(3), value)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
