"""A backend that does not exist."""

import torch


def f(x):
    return x * 2


if __name__ == "__main__":
    torch.compile(f, backend="no_such_backend")(torch.ones(2))  # expect: target-error [torch.compile(f, backend="no_such_backend")]
