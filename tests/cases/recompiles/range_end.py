"""A range that ends elsewhere."""

# cause: `steps.stop` was 2, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, steps):
    return x + steps.stop  # expect: recompile [steps.stop]


if __name__ == "__main__":
    x = torch.ones(4)
    f(x, range(2))
    f(x, range(3))
