"""Processes of torch.multiprocessing write over files."""

import os

import torch
from torch import nn

import torch.multiprocessing as mp


def rewrite(rank):
    with open("log.txt", "w") as file:
        file.write("new")
    os.remove("m.pt")


if __name__ == "__main__":
    compiled = torch.compile(nn.Linear(4, 4))
    print("output", tuple(compiled(torch.randn(2, 4)).shape))

    mp.spawn(rewrite, nprocs=1)
    with open("log.txt") as file:
        assert file.read() == "new"
    assert not os.path.exists("m.pt")
    print("end torch_mp_spawn")
