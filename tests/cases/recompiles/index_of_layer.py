"""Layers that know their index share their code."""

# cause: length of `cache` is no longer 0
# advice: the same keys
# fix: none (and each index is a graph of its own)

import torch


class Layer(torch.nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    @torch.compile
    def forward(self, x, cache):
        cache[self.index] = x * 2  # expect: recompile [cache]
        return x + 1


if __name__ == "__main__":
    cache = {}
    for layer in (Layer(0), Layer(1)):
        layer(torch.ones(4), cache)
