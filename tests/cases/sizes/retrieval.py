"""Queries against an index that grows, both of other sizes."""

import torch


@torch.compile
def nearest(queries, index):
    return torch.cdist(queries, index).topk(2, largest=False).indices


if __name__ == "__main__":
    torch.manual_seed(0)
    for count, known in ((5, 30), (9, 30), (9, 45)):
        queries, index = torch.randn(count, 6), torch.randn(known, 6)
        nearest(queries, index)
