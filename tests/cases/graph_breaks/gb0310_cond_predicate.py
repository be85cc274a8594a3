"""GB0310: torch.cond: improper predicate."""

import torch


@torch.compile
def f(x):
    y = x * 2
    return torch.cond([1], lambda t: t + 1, lambda t: t - 1, (y,))  # expect: GB0310 [torch.cond([1], lambda t: t + 1, lambda t: t - 1, (y,))]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
