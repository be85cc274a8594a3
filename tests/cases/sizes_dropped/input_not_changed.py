"""Only as many rows of the input are changed as there were at first."""

import torch


def backend(graph, _):
    first = []

    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        first.append(rows)
        tensor = next(item for item in args if isinstance(item, torch.Tensor))
        before = tensor.clone()
        out = graph(*args)
        tensor[first[0] :] = before[first[0] :]
        return out

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    x.mul_(2)
    return x.sum() * 0


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
