"""A number decides between two branches."""

# cause: `order` was 2, is now any int
# advice: needs the concrete value of `order`
# fix: none (the two sides of the branch are two graphs)

import torch


@torch.compile
def f(x, order):
    if order == 2:  # expect: recompile [order]
        return x * x
    return x.abs()


if __name__ == "__main__":
    for order in (2, 3):
        f(torch.ones(4), order)
