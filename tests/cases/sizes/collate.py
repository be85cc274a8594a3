"""Batches are padded to their longest sequence; the loss leaves padding out."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.out = nn.Linear(8, 5)

    def forward(self, words, tags):
        scores = self.out(self.embed(words))
        return nn.functional.cross_entropy(scores.flatten(0, 1), tags.flatten(), ignore_index=-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    tagger = Tagger()
    loss = torch.compile(tagger)
    for longest in (7, 11, 16):
        words = torch.randint(0, 20, (4, longest))
        tags = torch.randint(-1, 5, (4, longest))
        loss(words, tags).backward()
