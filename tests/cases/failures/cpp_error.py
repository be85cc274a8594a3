"""TorchInductor writes C++ that does not compile."""

# stage: inductor
# failure: error CppCompileError forward
# nodes: 1

import torch
from torch._inductor.codegen.cpp import CppOverrides, CppVecOverrides


def broken(x):
    return f"no_such_function({x})"


for overrides in (CppOverrides, CppVecOverrides):
    overrides.erf = staticmethod(broken)


@torch.compile
def step(x):
    y = torch.cos(x) * 2
    return torch.erf(y) - x  # fault


if __name__ == "__main__":
    step(torch.linspace(-1, 1, 32))
