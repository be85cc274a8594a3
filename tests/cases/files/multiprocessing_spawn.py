"""A process that is started anew writes over a file and removes another."""

import multiprocessing
import os

import torch
from torch import nn


def rewrite(name, removed):
    with open(name, "w") as file:
        file.write("new")
    os.remove(removed)


if __name__ == "__main__":
    compiled = torch.compile(nn.Linear(4, 4))
    print("output", tuple(compiled(torch.randn(2, 4)).shape))

    process = multiprocessing.get_context("spawn").Process(target=rewrite, args=("log.txt", "m.pt"))
    process.start()
    process.join()
    with open("log.txt") as file:
        assert file.read() == "new"
    assert not os.path.exists("m.pt")
    print("end multiprocessing_spawn")
