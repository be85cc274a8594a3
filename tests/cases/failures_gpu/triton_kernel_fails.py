"""A kernel of the program's own that TorchInductor fails at: it is the node that stays."""

# stage: inductor
# failure: error LoweringFault forward
# nodes: 1

import torch
import triton
import triton.language as tl
from torch._inductor import ir


class LoweringFault(Exception):
    pass


def broken(*_, **__):
    raise LoweringFault("no kernel of a program's own")


ir.UserDefinedTritonKernel.__init__ = broken


@triton.jit
def scale_kernel(source, target, count, factor, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + place, mask=place < count)
    tl.store(target + place, value * factor, mask=place < count)


@torch.compile(fullgraph=True)
def step(x):
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 64),)](x.cos(), y, x.numel(), 2.0, BLOCK=64)  # fault
    return torch.relu(y).sin()


if __name__ == "__main__":
    torch.manual_seed(0)
    step(torch.randn(256, device="cuda"))
