"""A layer is frozen between calls."""

# cause: requires_grad of `self.weight` was True, is now False
# advice: weight.requires_grad_(True)

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.weight  # expect: recompile [self.weight]


if __name__ == "__main__":
    model = Scale()
    compiled = torch.compile(model)
    compiled(torch.ones(4))
    model.weight.requires_grad_(False)  # fix: model.weight.requires_grad_(True)
    compiled(torch.ones(4))
