"""Layers of other sizes go through the same compiled function."""

# cause: size of `layer.bias` at dimension 0 was 3, is now 5
# advice: torch._dynamo.config.force_parameter_static_shapes = False

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(layer, x):
    return layer(x).relu()  # expect: recompile [layer]


if __name__ == "__main__":
    # fix: torch._dynamo.config.force_parameter_static_shapes = False
    for size in (3, 5):
        layer = torch.nn.Linear(4, size)
        f(layer, torch.ones(2, 4))
