"""Inputs, attributes, globals and containers that the compiled code changes."""

import sys

import torch

_total = torch.zeros(3)
_calls = 0
_log = []


def input_in_place():
    @torch.compile
    def f(x):
        x.mul_(2)
        return x + 1

    x = torch.ones(3)
    for _ in range(2):
        f(x)
    f(torch.ones(6)[::2])


def view_of_input():
    @torch.compile
    def f(x):
        x[0].zero_()
        x.t().add_(1)
        return x.sum()

    f(torch.ones(3, 3))
    f(torch.ones(3, 3).t())


def leaf_under_no_grad():
    w = torch.ones(3, requires_grad=True)

    @torch.compile
    def f():
        with torch.no_grad():
            w.sub_(0.1)

    for _ in range(2):
        f()


def input_becomes_differentiable():
    @torch.compile
    def f(x, w):
        x.add_(w)
        return x * 2

    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    f(x, w)
    f(x, w)


def resized_input():
    @torch.compile
    def f(x):
        x.resize_(6)
        return x + 1

    f(torch.ones(3))
    f(torch.ones(4))


def transposed_in_place():
    @torch.compile
    def f(x):
        x.t_()
        return x + 1

    x = torch.ones(2, 3)
    f(x)
    f(x)
    f(x)


def unsqueezed_in_place():
    @torch.compile
    def f(x):
        x.unsqueeze_(0)
        return x * 2

    x = torch.ones(3)
    f(x)
    f(x)


def data_replaced():
    @torch.compile
    def f(x, y):
        x.data = y
        return x + 1

    f(torch.ones(3), torch.zeros(3))
    f(torch.ones(3), torch.zeros(3))


def buffer():
    norm = torch.nn.BatchNorm1d(3)
    compiled = torch.compile(norm)
    compiled(torch.randn(4, 3))
    norm.momentum = 0.5
    compiled(torch.randn(4, 3))
    norm.eval()
    compiled(torch.randn(4, 3))


def buffer_replaced():
    class Running(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            self.mean = 0.9 * self.mean + 0.1 * x.detach()
            return x - self.mean

    model = torch.compile(Running())
    for _ in range(3):
        model(torch.ones(3, requires_grad=True))


def global_tensor():
    @torch.compile
    def f(x):
        global _total
        _total = _total + x
        return _total * 2

    for _ in range(3):
        f(torch.ones(3))


def global_number():
    @torch.compile
    def f(x):
        global _calls
        _calls += 1
        return x + _calls

    for _ in range(3):
        f(torch.ones(3))


def global_list():
    @torch.compile
    def f(x):
        _log.append(x.shape[0])
        return x * len(_log)

    for _ in range(3):
        f(torch.ones(3))


def dictionary():
    @torch.compile
    def f(x, cache):
        if "x" in cache:
            return cache["x"] + x
        cache["x"] = x
        return x * 2

    cache = {}
    for _ in range(3):
        f(torch.ones(3), cache)


def growing_cache():
    @torch.compile
    def f(x, cache):
        cache.append(x)
        return torch.cat(cache).sum()

    cache = []
    for _ in range(3):
        f(torch.ones(3), cache)


def cache_in_tuple():
    @torch.compile
    def f(x, past):
        keys = x if past is None else torch.cat([past[0], x])
        return keys.sum(), (keys,)

    past = None
    for _ in range(4):
        _, past = f(torch.ones(1, 3), past)


def attribute_of_object():
    class State:
        pass

    @torch.compile
    def f(x, state):
        state.last = x + 1
        return state.last * 2

    state = State()
    for _ in range(3):
        f(torch.ones(3), state)


def copied_into():
    @torch.compile
    def f(target, source):
        target.copy_(source)
        return target + 1

    f(torch.zeros(3), torch.ones(3))
    f(torch.zeros(3), torch.ones(3, dtype=torch.double))
    f(torch.zeros(3), torch.ones(1))


def out_argument():
    @torch.compile
    def f(x, out):
        return torch.add(x, 1, out=out)

    f(torch.ones(3), torch.zeros(3))
    f(torch.ones(4), torch.zeros(4))


def index_put():
    @torch.compile
    def f(x, index, value):
        x[index] = value
        return x

    f(torch.ones(4), torch.tensor([0, 1]), 2.0)
    f(torch.ones(4), torch.tensor([0, 1]), torch.zeros(2))
    f(torch.ones(4), torch.tensor([True, False, True, False]), 3.0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
