"""A small language model: embeddings with the same weights as its head, a layer, and its loss."""

# backward

import torch
import torch.nn.functional as F
from torch import nn

device = "cuda"


class Model(nn.Module):
    def __init__(self, words=1000, size=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, size), nn.Embedding(64, size)
        self.norm, self.mix = nn.LayerNorm(size), nn.Linear(size, size)
        self.head = nn.Linear(size, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, text):
        x = self.words(text) + self.places(torch.arange(text.shape[1], device=text.device))
        x = x + F.relu(self.mix(self.norm(x))).square()
        logits = self.head(x[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())


if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.compile(Model().to(device))
    out = model(torch.randint(0, 1000, (4, 64), device=device))
    out.backward()
