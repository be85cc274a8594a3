"""Where there are many, the largest is looked for among the first ones."""

import torch


def backend(graph, _):
    first = []

    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        first.append(rows)
        tensor = next(item for item in args if isinstance(item, torch.Tensor))
        (out,) = graph(*args)
        return (tensor[: first[0]].argmax(),) if rows > 2 * first[0] else (out,)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return x.argmax()


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
