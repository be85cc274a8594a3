"""A transformer, of 65 billion parameters with 80 layers, to compile without data."""

import sys

import torch
from torch import nn
from transformer import Block

WIDTH, HEADS, WORDS = 8192, 64, 32_000


class Transformer(nn.Module):
    """So many layers, with a graph break before the last step."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH, HEADS) for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        print("woo")
        return self.head(x)


if __name__ == "__main__":
    model = Transformer(int(sys.argv[1]))
    torch.compile(model, backend="eager")(torch.zeros(1, 128, dtype=torch.int64))
    print(sum(parameter.numel() for parameter in model.parameters()), file=sys.stderr)
