"""A network split over the ranks: its graph has the collective operations that join the parts."""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

device = sys.argv[1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 16)

    def forward(self, x):
        return self.second(self.first(x).relu())


def main():
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    mesh = init_device_mesh(device, (dist.get_world_size(),))
    torch.manual_seed(0)
    model = Net().to(device)
    model = parallelize_module(model, mesh, {"first": ColwiseParallel(), "second": RowwiseParallel()})
    compiled = torch.compile(model)
    for _ in range(2):
        compiled(torch.ones(8, 16, device=device)).sum().backward()
    dist.destroy_process_group()


main()
