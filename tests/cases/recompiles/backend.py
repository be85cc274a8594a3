"""A backend that is made anew for each call."""

# cause: the backend is a different object
# advice: backend=backend

import torch


def make():
    return lambda graph, inputs: graph.forward


def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    backend = make()
    for _ in range(2):
        torch.compile(f, backend=make())(torch.ones(4))  # fix: torch.compile(f, backend=backend)(torch.ones(4))
