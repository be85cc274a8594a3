"""A mean divides by the number of samples that there were at first."""

import torch


def backend(graph, _):
    first = []

    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        first.append(rows)
        (out,) = graph(*args)
        return (out * rows / first[0],)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return x.mean(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n, 4))
