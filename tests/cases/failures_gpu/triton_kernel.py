"""A kernel of the program's own in the graph, and a backend that computes relu wrongly."""

# stage: relu_accuracy_error
# failure: accuracy Numbers forward
# nodes: 1

import torch
import triton
import triton.language as tl
from fullgraph_compiler.backends.faults import relu_accuracy_error


@triton.jit
def scale_kernel(source, target, count, factor, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + place, mask=place < count)
    tl.store(target + place, value * factor, mask=place < count)


@torch.compile(backend=relu_accuracy_error, fullgraph=True)
def step(x):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), 2.0, BLOCK=64)
    return torch.relu(y).sin()  # fault


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(256, device="cuda"))
