"""What is left behind the last four elements is not computed."""

import torch


def backend(graph, _):
    def run(*args):
        (out,) = graph(*args)
        out = out.clone()
        out[out.shape[0] // 4 * 4 :] = 0
        return (out,)

    return run


@torch.compile(backend=backend, dynamic=True)
def f(x):
    return x.sin() + 2


if __name__ == "__main__":
    torch.manual_seed(0)
    for n in (8, 12):
        f(torch.randn(n))
