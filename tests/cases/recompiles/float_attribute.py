"""A fraction on a module that changes."""

# cause: `self.scale` was 1.5, is now any float
# advice: dynamic=True

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.5

    def forward(self, x):
        return x * self.scale  # expect: recompile [self.scale]


if __name__ == "__main__":
    model = Scale()
    compiled = torch.compile(model)  # fix: compiled = torch.compile(model, dynamic=True)
    compiled(torch.ones(2))
    model.scale = 3.0
    compiled(torch.ones(2))
