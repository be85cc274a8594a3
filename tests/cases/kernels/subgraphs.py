"""Functions of higher-order operators: each is a function of the code, with kernels of its own."""

import torch
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint


def first(x):
    return x.sin() + 1  # fw: fused


def second(x):
    return x.cos() @ x  # fw: fused mm


# fullgraph: branches(f32[32, 32])
def branches(x):
    condition = x.sum() > 0  # fw: fused [fused] [fused] (torch counts it to the branches, too)
    return torch.cond(condition, first, second, (x,))  # fw: [fused] [fused]


# fullgraph: loop(f32[32, 32])
def loop(x):
    start = torch.zeros((), dtype=torch.int64, device=x.device)  # fw: fused [fused] [fused]
    return while_loop(lambda step, _: step < 3, lambda step, x: (step + 1, x.sin()), (start, x))  # fw: fused fused


@torch.compiler.nested_compile_region
def region(x):
    return x.tanh()  # fw: fused fused; bw: fused


# fullgraph: regions(f32[32, 32])
def regions(x):
    for _ in range(3):
        x = region(x)  # fw: fused
    return x


# fullgraph: checkpointed(f32[32, 32].requires_grad_()).sum().backward()
def checkpointed(x):
    return checkpoint(region, x, use_reentrant=False)
