"""Graph breaks in loops, helpers, with statements, and what is compiled around them."""

import sys

import warnings

import torch


def _noisy(x):
    print(x.shape)
    return x + 1


def in_helper_called_twice():
    @torch.compile
    def f(x):
        return _noisy(_noisy(x) * 2)

    f(torch.ones(2))
    f(torch.ones(3))


def in_loop():
    @torch.compile
    def f(x):
        for _ in range(3):
            x = x + 1
            torch._dynamo.graph_break()
        return x * 2

    f(torch.ones(2))
    f(torch.ones(3))


def in_comprehension():
    @torch.compile
    def f(xs):
        return [x.sum().item() for x in xs]

    f([torch.ones(2), torch.ones(3)])


def under_no_grad():
    @torch.compile
    def f(x):
        with torch.no_grad():
            y = x + 1
            print("here")
            return y * 2

    f(torch.ones(2, requires_grad=True))


def in_try():
    @torch.compile
    def f(x):
        try:
            y = x + 1
            print("here")
            return y * 2
        finally:
            x = x * 3

    f(torch.ones(2))


def at_the_end():
    @torch.compile
    def f(x):
        y = x + 1
        print("done")
        return y

    f(torch.ones(2))


def two_in_one_line():
    @torch.compile
    def f(x):
        return x.sum().item() + (x * 2).sum().item()

    f(torch.ones(2))


def item_as_branch():
    @torch.compile
    def f(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    f(torch.ones(2))
    f(-torch.ones(2))


def resume_functions_recompile():
    @torch.compile
    def f(x, n):
        x = x + 1
        print("between")
        return x * n

    for n in (2, 3, 4):
        f(torch.ones(2), n)


def resume_functions_hit_the_limit():
    @torch.compile
    def f(x, word):
        x = x + 1
        print("between")
        return x * len(word)

    for n in range(11):
        f(torch.ones(2), "a" * n)


def item_value_after_break():
    @torch.compile
    def f(x):
        n = x.sum().item()
        return x * n

    for value in (1.0, 2.0, 3.0):
        f(torch.full((2,), value))


def skipped_function():
    @torch._dynamo.disable
    def outside(x):
        return x.numpy().tolist()

    @torch.compile
    def f(x):
        y = x * 2
        return y, outside(x)

    f(torch.ones(2))


def generator_function():
    def rows(x):
        for row in x:
            yield row + 1

    @torch.compile
    def f(x):
        return sum(rows(x))

    f(torch.ones(2, 2))


def nested_function_returned():
    @torch.compile
    def f(x):
        scale = x.sum()

        def inner(y):
            return y * scale

        return inner(x), inner

    f(torch.ones(2))


def warning_raised():
    @torch.compile
    def f(x):
        warnings.warn("careful")
        return x + 1

    f(torch.ones(2))


def logged():
    import logging

    @torch.compile
    def f(x):
        logging.getLogger("train").warning("step %s", x.shape)
        return x + 1

    f(torch.ones(2))
    f(torch.ones(3))


def context_manager_of_user():
    from contextlib import contextmanager

    @contextmanager
    def timed():
        import time

        start = time.perf_counter()
        yield
        print(time.perf_counter() - start)

    @torch.compile
    def f(x):
        with timed():
            y = x + 1
        return y * 2

    f(torch.ones(2))


def time_inside():
    import time

    @torch.compile
    def f(x):
        start = time.time()
        y = x + 1
        return y, time.time() - start

    f(torch.ones(2))
    f(torch.ones(2))


def print_of_tensor():
    @torch.compile
    def f(x):
        y = x * 2
        print(y)
        return y + 1

    f(torch.ones(2))


def exception_caught():
    def check(x):
        if x.shape[0] > 2:
            raise ValueError("too long")
        return x

    @torch.compile
    def f(x):
        try:
            return check(x) + 1
        except ValueError:
            return x - 1

    for size in (2, 3):
        f(torch.ones(size))


def set_of_tensors():
    @torch.compile
    def f(x, y):
        return len({x, y}) + x

    f(torch.ones(2), torch.zeros(2))


def regular_expression():
    import re

    @torch.compile
    def f(x, name):
        return x + 1 if re.match(r"conv\d", name) else x - 1

    f(torch.ones(2), "conv1")
    f(torch.ones(2), "linear")


def copied():
    import copy

    @torch.compile
    def f(x, options):
        options = copy.deepcopy(options)
        return x * options["scale"]

    f(torch.ones(2), {"scale": 2})
    f(torch.ones(2), {"scale": 3})


def assertion_on_data():
    @torch.compile
    def f(x):
        assert x.sum() > 0, "negative"
        return x + 1

    f(torch.ones(2))


def assertion_on_size():
    @torch.compile
    def f(x):
        assert x.shape[0] > 1, "too few"
        return x + 1

    f(torch.ones(2))
    f(torch.ones(3))


def backward_inside():
    @torch.compile
    def f(x):
        y = (x * 2).sum()
        y.backward()
        return x.grad + 1

    f(torch.ones(2, requires_grad=True))


def nested_graph_breaks():
    def inner(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    @torch.compile
    def f(x):
        return inner(x) + inner(x * 3)

    with torch._dynamo.config.patch(nested_graph_breaks=True):
        f(torch.ones(2))
        f(torch.ones(3))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
