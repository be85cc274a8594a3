"""GB0117: Unhandled args for method."""

import torch


@torch.compile
def f(x):
    y = x * 2
    y.share_memory_()  # expect(<2.15): GB0117 [y.share_memory_()]  # expect(>=2.15): GB4197 [y.share_memory_()]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
