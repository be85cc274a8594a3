"""A graph break and one graph, compiled in a moment: the toy of ``--small``."""

import torch


@torch.compile(backend="aot_eager")
def toy_example(a, b):
    print("woo")
    return a / (torch.abs(a) + 1) * b


if __name__ == "__main__":
    toy_example(torch.randn(10), torch.randn(10))
