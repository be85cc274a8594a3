"""The workers of a DataLoader note what they load."""

import os

import torch
from torch import nn

class Notes(torch.utils.data.Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        with open("log.txt", "a") as file:
            file.write("loaded")
        os.utime("m.pt")
        return index


if __name__ == "__main__":
    compiled = torch.compile(nn.Linear(4, 4))
    print("output", tuple(compiled(torch.randn(2, 4)).shape))

    loader = torch.utils.data.DataLoader(Notes(), num_workers=1, multiprocessing_context="spawn")
    assert len(list(loader)) == 2
    with open("log.txt") as file:
        assert file.read().endswith("loaded")
    print("end data_loader_spawn")
