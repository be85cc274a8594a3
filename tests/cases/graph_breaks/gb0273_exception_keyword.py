"""GB0273: Keyword args passed to exception constructor."""

import torch


@torch.compile
def f(x):
    y = x * 2
    error = ImportError("missing", name="kernels")  # expect: GB0273 [ImportError("missing", name="kernels")]
    return y, error


if __name__ == "__main__":
    f(torch.ones(2))
