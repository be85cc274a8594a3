"""The last batch has one item."""

# cause: size of `batch` at dimension 0 was 4, is now 1
# advice: drop_last=True

import torch
from torch.utils.data import DataLoader


@torch.compile
def f(batch):
    return batch.exp().sum()  # expect: recompile [batch]


if __name__ == "__main__":
    for batch in DataLoader(torch.ones(9, 3), batch_size=4):  # fix: for batch in DataLoader(torch.ones(9, 3), batch_size=4, drop_last=True):
        f(batch)
