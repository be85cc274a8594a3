"""The number of layers is an attribute."""

# cause: `self.depth` was 2, is now 3
# advice: only computes with `self.depth`
# fix: none (the code does not only compute with it)

import torch


class Deep(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 2

    def forward(self, x):
        for _ in range(self.depth):  # expect: recompile [self.depth]
            x = torch.sin(x)
        return x


if __name__ == "__main__":
    model = Deep()
    compiled = torch.compile(model)
    for depth in (2, 3):
        model.depth = depth
        compiled(torch.ones(4))
