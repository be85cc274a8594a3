"""What the recorded logs beside this file ran: one of everything that a run can tell.

TORCH_TRACE=DIR python program.py
"""

import logging

import torch


@torch.compile(backend="eager")
def toy(a, b):
    x = a / (torch.abs(a) + 1)
    print("woo")
    if b.sum() < 0:
        b = b * -1
    return x * b


@torch.compile(backend="eager")
def breaks_in_loop(x):
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x


@torch.compile(backend="eager", fullgraph=True)
def must_be_one_graph(x):
    x = x * 2
    print("hi")
    return x


@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def backend_fails(x):
    y = x + 1
    return torch.relu(y)


@torch.compile(backend="eager")
def limit(x, word):
    return x + len(word)


@torch.compile(backend="eager")
def wrong_shapes(x):
    return x @ torch.ones(7, 7)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.5
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) * self.scale


def attempt(function, *args):
    try:
        function(*args)
    except Exception as error:
        print(type(error).__name__)


if __name__ == "__main__":
    # As Fullgraph does: without it, breaks outside of the tracer are not recorded.
    logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks").setLevel(logging.DEBUG)
    x = torch.ones(4)
    toy(torch.ones(10), torch.ones(10))
    toy(torch.ones(12), torch.ones(12))
    attempt(breaks_in_loop, x)
    attempt(must_be_one_graph, x)
    attempt(backend_fails, x)
    for size in range(10):
        attempt(limit, x, "a" * size)
    attempt(wrong_shapes, torch.ones(3, 3))
    model = Scaled()
    compiled = torch.compile(model, backend="eager")
    attempt(compiled, x)
    model.scale = 3.0
    attempt(compiled, x)
