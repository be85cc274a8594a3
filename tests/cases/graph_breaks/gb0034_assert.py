"""GB0034: Data-dependent assertion failed (cannot compile partial graph)."""

import torch


def check(kind):
    assert kind == "gelu", "only gelu"  # expect: GB0034 [kind == "gelu"]


@torch.compile
def f(x, kind):
    y = x * 2
    check(kind)
    return y


if __name__ == "__main__":
    try:
        f(torch.ones(2), "relu")
    except AssertionError:
        pass
