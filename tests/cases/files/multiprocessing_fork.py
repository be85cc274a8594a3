"""Processes of a pool write over files and remove them."""

import multiprocessing
import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


def rewrite(name):
    with open(name, "wb") as file:
        file.write(b"new")
    return os.path.getsize(name)


context = multiprocessing.get_context("fork")
with context.Pool(2) as pool:
    assert pool.map(rewrite, ["m.pt", "best.ckpt", "data.npy"]) == [3, 3, 3]
process = context.Process(target=os.remove, args=("log.txt",))
process.start()
process.join()
with open("best.ckpt", "rb") as file:
    assert file.read() == b"new"
assert not os.path.exists("log.txt")
print("end multiprocessing_fork")
