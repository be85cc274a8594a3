"""A job of several ranks; torch 2.13.0 wrote ``train.log.gz``, of rank 0 of two.

TORCH_TRACE=traces LOG_TLPARSE=1 torchrun --nproc-per-node 2 train.py, without caches. Of the log, the records
are left that findings are made of, and paths are those of a user.
"""

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch._inductor.debug import record_and_log_graph_execution_order


@torch.compile
def step(x, w):
    h = torch.relu(x @ w)
    dist.all_reduce(h)
    y = h * 2
    z = funcol.all_gather_tensor(y, 0, dist.group.WORLD)
    dist.all_reduce(z)
    return z.sum()


@torch.compile
def scale(x):
    return x.sin() * 2


@torch.compile
def loss(x):
    y = x.cos()
    torch._dynamo.graph_break()
    return (y - 1).abs().mean()


def main():
    dist.init_process_group("gloo")
    x = torch.randn(8, 16)
    w = torch.randn(16, 4, requires_grad=True)
    with record_and_log_graph_execution_order():
        for _ in range(2):
            scale(x)
            step(x, w.detach())
            loss(x @ w).backward()
    dist.destroy_process_group()


main()
