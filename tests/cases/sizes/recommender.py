"""Ragged features: each user has another number of items, as one list with offsets."""

import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.items = nn.Embedding(50, 8)
        self.top = nn.Linear(8, 1)

    def forward(self, items, users, dense):
        pooled = torch.zeros_like(dense).index_add(0, users, self.items(items))
        return self.top(pooled + dense).squeeze(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Recommender())
    for count in (23, 31, 40):
        items = torch.randint(0, 50, (count,))
        users = torch.randint(0, 4, (count,)).sort().values
        model(items, users, torch.randn(4, 8)).mean().backward()
