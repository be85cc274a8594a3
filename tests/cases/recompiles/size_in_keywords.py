"""A tensor of another size among keyword arguments."""

# cause: size of `kwargs['x']` at dimension 0 was 10, is now 12
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(**kwargs):
    return kwargs["x"] * 2  # expect: recompile [kwargs["x"]]


if __name__ == "__main__":
    for size in (10, 12):
        f(x=torch.ones(size))
