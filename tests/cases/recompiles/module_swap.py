"""Another module in the same place."""

# cause: `self.act` was type torch.nn.modules.activation.ReLU, is now type torch.nn.modules.activation.GELU
# advice: ReLU(

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return self.act(x)  # expect: recompile [self.act]


if __name__ == "__main__":
    model = Net()
    compiled = torch.compile(model)
    compiled(torch.ones(4))
    model.act = torch.nn.GELU()  # fix: model.act = torch.nn.ReLU()
    compiled(torch.ones(4))
