"""Layers of other sizes go through the same compiled function."""

# cause: size of `layer.bias` at dimension 0 was 3, is now 5
# advice: specializes on the sizes of parameters
# fix: none (each layer is a graph of its own)

import torch


@torch.compile
def f(layer, x):
    return layer(x).relu()  # expect: recompile [layer]


if __name__ == "__main__":
    for size in (3, 5):
        layer = torch.nn.Linear(4, size)
        f(layer, torch.ones(2, 4))
