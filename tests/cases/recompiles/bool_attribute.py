"""A flag on a module that changes."""

# cause: `self.flag` was True, is now False
# advice: has its own graph, compiled once
# fix: none (each value is a graph of its own)

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = True

    def forward(self, x):
        return x * 2 if self.flag else -x  # expect: recompile [self.flag]


if __name__ == "__main__":
    model = Scale()
    compiled = torch.compile(model)
    compiled(torch.ones(2))
    model.flag = False
    compiled(torch.ones(2))
