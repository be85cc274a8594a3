"""A member of an enum as an attribute."""

# cause: `self.mode` was Mode.FAST, is now Mode.EXACT
# advice: has its own graph, compiled once
# fix: none (each member is a graph of its own)

import enum

import torch


class Mode(enum.Enum):
    FAST = "fast"
    EXACT = "exact"


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = Mode.FAST

    def forward(self, x):
        return x * 2 if self.mode is Mode.FAST else x.exp()  # expect: recompile [self.mode]


if __name__ == "__main__":
    model = Model()
    compiled = torch.compile(model)
    for mode in Mode:
        model.mode = mode
        compiled(torch.ones(4))
