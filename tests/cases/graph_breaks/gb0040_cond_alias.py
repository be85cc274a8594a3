"""GB0040: Encountered aliasing during higher order op tracing."""

import torch


@torch.compile
def f(x):
    y = x * 2
    return torch.cond(x.sum() > 0, lambda t: t, lambda t: t + 1, (y,))  # expect: GB0040 [t]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
