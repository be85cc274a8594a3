"""What stops the program, or is caught: errors of the program, of Dynamo and of limits."""

import sys

import torch


def limit_then_eager():
    @torch.compile
    def f(x, word):
        return x * len(word)

    for n in range(11):
        f(torch.ones(2), "a" * n)


def limit_with_fullgraph():
    @torch.compile(fullgraph=True)
    def f(x, word):
        return x * len(word)

    for n in range(11):
        f(torch.ones(2), "a" * n)


def limit_set_to_fail():
    @torch.compile
    def f(x, word):
        return x * len(word)

    with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
        for n in range(11):
            f(torch.ones(2), "a" * n)


def limit_of_two():
    @torch.compile
    def f(x, word):
        return x * len(word)

    with torch._dynamo.config.patch(recompile_limit=2):
        for n in range(5):
            f(torch.ones(2), "a" * n)


def limit_of_all():
    with torch._dynamo.config.patch(accumulated_recompile_limit=3):
        for n in range(6):

            @torch.compile
            def f(x):
                return x * n

            f(torch.ones(2))


def own_limit_of_function():
    @torch.compile
    def f(x, word):
        return x * len(word)

    for n in range(4):
        f(torch.ones(2), "a" * n)
    torch._dynamo.reset()
    for n in range(4):
        f(torch.ones(2), "a" * n)


def error_on_recompile():
    @torch.compile
    def f(x):
        return x + 1

    with torch._dynamo.config.patch(error_on_recompile=True):
        f(torch.ones(2))
        f(torch.ones(3))


def break_with_fullgraph():
    @torch.compile(fullgraph=True)
    def f(x):
        print("no")
        return x + 1

    f(torch.ones(2))


def break_with_fullgraph_caught():
    @torch.compile(fullgraph=True)
    def f(x):
        print("no")
        return x + 1

    try:
        f(torch.ones(2))
    except Exception:
        pass


def break_first_then_fullgraph():
    def helper(x):
        print("no")
        return x + 1

    torch.compile(lambda x: helper(x) * 2)(torch.ones(2))
    torch.compile(lambda x: helper(x) * 3, fullgraph=True)(torch.ones(2))


def error_on_graph_break():
    @torch.compile
    def f(x):
        with torch._dynamo.error_on_graph_break(True):
            print("no")
        return x + 1

    f(torch.ones(2))


def shapes_that_do_not_fit():
    @torch.compile
    def f(x, y):
        return x @ y

    f(torch.ones(2, 3), torch.ones(2, 3))


def shapes_that_do_not_fit_later():
    @torch.compile
    def f(x, y):
        return x + y

    f(torch.ones(2), torch.ones(2))
    f(torch.ones(3), torch.ones(4))


def exception_of_program():
    @torch.compile
    def f(x):
        if x.shape[0] > 2:
            raise ValueError("too long")
        return x + 1

    f(torch.ones(2))
    f(torch.ones(3))


def exception_after_break():
    @torch.compile
    def f(x):
        print("here")
        raise RuntimeError("no more")

    f(torch.ones(2))


def assertion_fails():
    @torch.compile
    def f(x):
        assert x.sum() < 0, "positive"
        return x + 1

    f(torch.ones(2))


def index_out_of_range():
    @torch.compile
    def f(x, index):
        return x[index]

    f(torch.ones(2), torch.tensor([5]))


def constraint_violated():
    @torch.compile
    def f(x):
        return x + torch.ones(4)

    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    f(x)


def backend_fails():
    def backend(graph, inputs):
        raise NotImplementedError("no such operator")

    torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))


def backend_fails_suppressed():
    def backend(graph, inputs):
        raise NotImplementedError("no such operator")

    with torch._dynamo.config.patch(suppress_errors=True):
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))


def backend_unknown():
    torch.compile(lambda x: x + 1, backend="nothing")(torch.ones(2))


def eager_backend():
    compiled = torch.compile(lambda x, s: x * s, backend="eager")
    for value in (0.5, 0.25, 0.125):
        compiled(torch.ones(2), value)


def ahead_of_time_backend():
    compiled = torch.compile(lambda x, s: (x * s).t(), backend="aot_eager")
    x = torch.ones(2, 2)
    for value in (0.5, 0.25, 0.125):
        x = compiled(x, value)


def exits_early():
    @torch.compile
    def f(x):
        return x + 1

    f(torch.ones(2))
    sys.exit(3)


def double_backward():
    @torch.compile
    def f(x):
        return x.sin()

    x = torch.ones(3, requires_grad=True)
    (grad,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    grad.sum().backward()


def second_backward():
    y = torch.compile(lambda x: (x * x).sum())(torch.ones(3, requires_grad=True))
    y.backward()
    y.backward()


def saved_input_changed():
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3)
    y = torch.compile(lambda x, w: x * w)(x, w)
    w.add_(1)
    y.sum().backward()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
