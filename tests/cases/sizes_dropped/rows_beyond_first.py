"""Rows behind those that there were at first stay zeros."""

import torch


def backend(graph, _):
    first = []

    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        first.append(rows)
        (out,) = graph(*args)
        out = out.clone()
        out[first[0] :] = 0
        return (out,)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return x.exp()


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
