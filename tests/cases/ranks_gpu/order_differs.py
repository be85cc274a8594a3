"""Rank 1 calls two compiled functions in another order than rank 0.

They have no collective operations, so that nothing hangs.
"""

import os
import sys

import torch
import torch.distributed as dist

device = sys.argv[1]


@torch.compile
def encode(x):  # differs: order
    return torch.sin(x) + 1


@torch.compile
def decode(x):  # differs: order
    return torch.cos(x) - 1


def main():
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    x = torch.randn(64, device=device)
    if dist.get_rank() == 0:
        decode(encode(x))
    else:
        encode(decode(x))
    dist.barrier()
    dist.destroy_process_group()


main()
