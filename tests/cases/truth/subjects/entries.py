"""What is compiled: methods, partials, objects that can be called, builtins, steps of optimizers."""

import functools
import sys

import torch


class _Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.step = torch.compile(self.step)

    def step(self, x):
        return self.net(x).sum()


def method_of_each_object():
    for _ in range(2):
        trainer = _Trainer()
        for rows in (2, 3, 4):
            trainer.step(torch.ones(rows, 4))


def method_of_a_module():
    class Net(torch.nn.Module):
        def encode(self, x, scale=1.0):
            print("encode")
            return x * scale

    encode = torch.compile(Net().encode)
    for scale in (1.0, 2.0, 3.0):
        encode(torch.ones(4), scale)


def decorated_methods():
    class Ops:
        @torch.compile
        def own(self, x):
            return x + 1

        @classmethod
        @torch.compile
        def of_class(cls, x):
            return x * 2

        @staticmethod
        @torch.compile
        def of_none(x):
            return x - 1

    ops = Ops()
    for rows in (2, 3, 4):
        for method in (ops.own, ops.of_class, ops.of_none):
            method(torch.ones(rows))


def partials():
    def scaled(x, k):
        return x * k

    for k in (2, 3):
        f = torch.compile(functools.partial(scaled, k=k))
        for rows in (2, 3):
            f(torch.ones(rows))


def partial_of_a_method():
    class Filter:
        gain = 2

        def apply(self, x, taps):
            return x[:taps] * self.gain

    f = torch.compile(functools.partial(Filter().apply, taps=3))
    for rows in (4, 5, 6):
        f(torch.ones(rows))


def objects_that_can_be_called():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    for k in (2, 3):
        f = torch.compile(Scale(k))
        f(torch.ones(3))
        f(torch.ones(4))


def builtins_of_torch():
    f = torch.compile(torch.sin)
    g = torch.compile(torch.nn.functional.softplus)
    for rows in (2, 3, 4):
        f(torch.ones(rows))
        g(torch.ones(rows))


def steps_of_optimizers():
    for _ in range(3):
        net = torch.nn.Linear(4, 1)
        step = torch.compile(torch.optim.SGD(net.parameters(), lr=0.1).step)
        net(torch.ones(2, 4)).sum().backward()
        step()


def modules_in_place():
    nets = [torch.nn.Linear(4, 2), torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())]
    for net in nets:
        net.compile()
        for rows in (2, 3):
            net(torch.ones(rows, 4))


def compiled_at_first_use():
    made = {}

    def get():
        if "f" not in made:
            print("compiling")
            made["f"] = torch.compile(lambda x: x.sin())
        return made["f"]

    @torch.compile
    def outer(x):
        return get()(x) + 1

    outer(torch.ones(4))
    outer(torch.ones(4))


def compiled_below_disabled():
    @torch.compile
    def inner(x, n):
        return x * n

    @torch.compiler.disable(recursive=False)
    def half(x):
        return inner(x, 7)

    @torch.compile
    def outer(x):
        return half(x) + 1

    outer(torch.ones(3))
    inner(torch.ones(3), 2)


def compiled_autograd_in_a_step():
    net = torch.nn.Linear(4, 4)

    @torch.compile(backend="eager")
    def train(x):
        loss = net(x).sum()
        loss.backward()
        return loss

    with torch._dynamo.config.patch(compiled_autograd=True):
        for _ in range(2):
            train(torch.ones(2, 4))


def hooks_on_all_modules():
    def scaled(module, arguments):
        (x,) = arguments
        return (x * 1.5,)

    handle = torch.nn.modules.module.register_module_forward_pre_hook(scaled)
    f = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()))
    for rows in (2, 3):
        f(torch.ones(rows, 4))
    handle.remove()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
