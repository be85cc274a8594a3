"""A flag on a module that changes."""

# cause: `self.flag` was True, is now False
# advice: torch.where(self.flag

import torch


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.flag = True  # fix: self.flag = torch.tensor(True)

    def forward(self, x):
        return x * 2 if self.flag else -x  # fix: return torch.where(self.flag, x * 2, -x)  # expect: recompile [self.flag]


if __name__ == "__main__":
    model = Scale()
    compiled = torch.compile(model)
    compiled(torch.ones(2))
    model.flag = False  # fix: model.flag = torch.tensor(False)
    compiled(torch.ones(2))
