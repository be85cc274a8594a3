"""Global state that changes has no line of its own: it stands on the function."""

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
    with torch.no_grad():
        f(torch.ones(2))
