"""A backend that fails at one operator: the line is that operator's."""

import torch


@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def f(x):
    y = x + 1
    return torch.relu(y)  # expect: compile-error [torch.relu(y)]


if __name__ == "__main__":
    f(torch.ones(2))
