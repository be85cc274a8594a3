"""The mask of what comes later is as long as the first input was."""

import torch


def backend(graph, _):
    first = []

    def run(*args):
        rows = next(item for item in args if isinstance(item, torch.Tensor)).shape[0]
        first.append(rows)
        (out,) = graph(*args)
        mask = torch.arange(rows) < first[0]
        return (torch.where(mask[:, None], out, out + 1),)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return torch.softmax(x @ x.mT, -1) @ x


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n, 4))
