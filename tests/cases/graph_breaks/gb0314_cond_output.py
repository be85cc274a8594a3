"""GB0314: HOP body output unsupported."""

import torch


@torch.compile
def f(x):
    y = x * 2
    return torch.cond(x.sum() > 0, lambda t: 1.5, lambda t: 2.5, (y,))  # expect: GB0314 [torch.cond(x.sum() > 0, lambda t: 1.5, lambda t: 2.5, (y,))]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
