"""GB0149: Unsupported functorch tracing attempt."""

import torch


@torch.compile
def f(x):  # expect: GB0149 [f]
    return x.sin() * 2


if __name__ == "__main__":
    torch.func.vmap(f)(torch.ones(3, 2))
