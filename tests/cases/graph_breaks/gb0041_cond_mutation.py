"""GB0041: Encountered input mutation during higher order op tracing."""

import torch


@torch.compile
def f(x):
    y = x * 2

    def first(t):
        return t.add_(1)

    def second(t):
        return t - 1

    return torch.cond(x.sum() > 0, first, second, (y,))  # expect: GB0041 [torch.cond(x.sum() > 0, first, second, (y,))]


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except Exception:
        pass
