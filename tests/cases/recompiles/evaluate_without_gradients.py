"""A function is called with gradients and without."""

# cause: grad mode was True, is now False
# advice: This is expected
# fix: none (with and without gradients are two graphs)

import torch


@torch.compile
def f(weight, x):  # expect: recompile [f]
    return (x @ weight).relu()


if __name__ == "__main__":
    weight = torch.ones(4, 4, requires_grad=True)
    f(weight, torch.ones(2, 4)).sum().backward()
    with torch.no_grad():
        f(weight, torch.ones(2, 4))
