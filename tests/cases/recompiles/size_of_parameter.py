"""A parameter has another size: torch takes those for static."""

# cause: size of `w` at dimension 0 was 4, is now 6
# advice: torch._dynamo.config.force_parameter_static_shapes = False

import torch
import torch._dynamo.config


@torch.compile
def f(w):
    return w * 2  # expect: recompile [w]


if __name__ == "__main__":
    # fix: torch._dynamo.config.force_parameter_static_shapes = False
    for size in (4, 6):
        w = torch.nn.Parameter(torch.ones(size))
        # fix: torch._dynamo.mark_dynamic(w, 0)
        f(w)
