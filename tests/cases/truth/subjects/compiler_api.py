"""The functions of `torch.compiler`, marks of sizes, and the arguments of `torch.compile`."""

import inspect
import sys

import torch

_ARGUMENTS = inspect.signature(torch.compile).parameters


@torch.compile
def _double(x):
    return x * 2


def marked_dynamic():
    for rows in (2, 3, 4):
        x = torch.ones(rows, 4)
        torch._dynamo.mark_dynamic(x, 0)
        _double(x)


def marked_between_bounds():
    for rows in (4, 8, 70):
        x = torch.ones(rows, 4)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        _double(x)


def marked_dynamic_after_a_static_call():
    _double(torch.ones(2, 4))
    x = torch.ones(3, 4)
    torch._dynamo.mark_dynamic(x, 0)
    _double(x)
    _double(torch.ones(5, 4))


def maybe_marked():
    @torch.compile
    def f(x):
        return x.view(2, -1) if x.shape[0] == 4 else x

    for rows in (4, 5, 6):
        x = torch.ones(rows)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        f(x)


def marked_static():
    for rows in (2, 3, 4):
        x = torch.ones(rows, 4)
        torch._dynamo.mark_static(x, 0)
        _double(x)


def marked_unbacked():
    for rows in (1, 2, 5):
        x = torch.ones(rows, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        _double(x)


def marked_and_made_a_constant():
    table = torch.ones(4, 10)

    @torch.compile
    def f(a):
        return a.sin() + table

    a = torch.ones(4, 10)
    torch._dynamo.mark_dynamic(a, 0)
    f(a)


def stance_for_a_part():
    _double(torch.ones(2, 4))
    with torch.compiler.set_stance("force_eager"):
        _double(torch.ones(3, 4))
    with torch.compiler.set_stance("default"):
        _double(torch.ones(4, 4))
    _double(torch.ones(5, 4))


def stance_with_another_backend():
    with torch.compiler.set_stance("default", force_backend="eager"):
        _double(torch.ones(2, 4))
    _double(torch.ones(2, 4))


def stance_eager_then_compile():
    with torch.compiler.set_stance("eager_then_compile"):
        for rows in (2, 3, 4):
            _double(torch.ones(rows, 4))


def breaks_are_errors_in_a_part():
    @torch.compile
    def f(x):
        print("outside")
        with torch._dynamo.error_on_graph_break(True):
            x = x + 1
        return x * 2

    f(torch.ones(3))


def a_break_that_is_an_error():
    @torch.compile
    def f(x):
        with torch._dynamo.error_on_graph_break(True):
            print("inside")
        return x * 2

    try:
        f(torch.ones(3))
    except torch._dynamo.exc.Unsupported:
        _double(torch.ones(3))


def nested_region():
    @torch.compiler.nested_compile_region
    def block(x):
        return (x.sin() + 1).relu()

    @torch.compile
    def f(x):
        for _ in range(3):
            x = block(x)
        return x

    for rows in (2, 3, 4):
        f(torch.ones(rows, 4))


def disabled_with_a_reason():
    @torch.compiler.disable(reason="it writes a log")
    def log(x):
        return x

    @torch.compile
    def f(x):
        return log(x + 1) * 2

    for rows in (2, 3):
        f(torch.ones(rows))


def allowed_in_graph():
    def scaled(x):
        return x * 3

    torch.compiler.allow_in_graph(scaled)

    @torch.compile
    def f(x):
        return scaled(x) + 1

    for rows in (2, 3):
        f(torch.ones(rows))


def assumed_constant():
    @torch.compiler.assume_constant_result
    def gain():
        return 3

    @torch.compile
    def f(x):
        return x * gain()

    for rows in (2, 3):
        f(torch.ones(rows))


def asks_whether_it_is_compiled():
    @torch.compile
    def f(x):
        if torch.compiler.is_compiling():
            return x + 1
        print("eager")
        return x

    f(torch.ones(2))
    f(torch.ones(3))


def numpy_wrapped():
    @torch.compile
    @torch.compiler.wrap_numpy
    def f(x):
        return x * 2 + 1

    for rows in (2, 3):
        f(torch.ones(rows))


def own_limit_of_a_function():
    @torch.compile(recompile_limit=2)
    def f(x, n):
        return x * len(n)

    for n in ("a", "bb", "ccc", "dddd"):
        f(torch.ones(2), n)


def isolated_recompilations():
    def f(x, flag):
        return x + 1 if flag else x - 1

    one, other = torch.compile(f, isolate_recompiles=True), torch.compile(f, isolate_recompiles=True)
    for flag in (True, False):
        one(torch.ones(2), flag)
        other(torch.ones(2), flag)


def sizes_that_are_declared():
    if "dynamic_shapes" not in _ARGUMENTS:  # before 2.15
        return _double(torch.ones(2, 4))

    def f(x, y):
        return x.sum() + y

    compiled = torch.compile(f, dynamic_shapes={"x": {0: "dynamic"}})
    for rows in (2, 3):
        compiled(torch.ones(rows, 4), torch.ones(4))


def guards_that_are_filtered():
    kept = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
    scale = 2

    def f(x):
        return x * scale

    compiled = torch.compile(f, options=kept)
    for rows in (2, 3):
        compiled(torch.ones(rows))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
