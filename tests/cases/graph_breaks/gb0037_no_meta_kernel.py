"""GB0037: Dynamic shape operator (no meta kernel)."""

import torch

LIBRARY = torch.library.Library("cases_dynamic", "FRAGMENT")
if not hasattr(torch.ops.cases_dynamic, "kept"):
    LIBRARY.define("kept(Tensor x) -> Tensor", tags=(torch.Tag.dynamic_output_shape,))
    LIBRARY.impl("kept", lambda x: x[x > 0].clone(), "CPU")


@torch.compile
def f(x):
    y = x * 2
    z = torch.ops.cases_dynamic.kept(y)  # expect: GB0037 [torch.ops.cases_dynamic.kept(y)]
    return z + 1


if __name__ == "__main__":
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        f(torch.ones(4))
