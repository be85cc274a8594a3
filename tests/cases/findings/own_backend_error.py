"""A backend of the user's own that fails without saying where."""

import torch


def backend(graph, inputs):
    raise NotImplementedError("not today")


@torch.compile(backend=backend)
def f(x):
    y = x + 1  # expect: compile-error [x + 1]
    return y * 2


if __name__ == "__main__":
    f(torch.ones(2))
