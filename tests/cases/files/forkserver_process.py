"""A process of a fork server writes over a file."""

import multiprocessing
import os

import torch
from torch import nn

def rewrite():
    with open("log.txt", "w") as file:
        file.write("new")
    os.remove("m.pt")


if __name__ == "__main__":
    compiled = torch.compile(nn.Linear(4, 4))
    print("output", tuple(compiled(torch.randn(2, 4)).shape))

    process = multiprocessing.get_context("forkserver").Process(target=rewrite)
    process.start()
    process.join()
    with open("log.txt") as file:
        assert file.read() == "new"
    print("end forkserver_process")
