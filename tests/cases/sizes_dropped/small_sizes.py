"""Fewer than four elements are taken for four."""

import torch


def backend(graph, _):
    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        (out,) = graph(*args)
        return (out * rows / max(rows, 4),)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return x.sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
