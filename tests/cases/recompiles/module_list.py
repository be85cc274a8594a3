"""A layer is added after the first call."""

# cause: length of `self.layers` is no longer 1
# advice: layers.append(

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.ReLU()])

    def forward(self, x):
        for layer in self.layers:  # expect: recompile [self.layers]
            x = layer(x)
        return x


if __name__ == "__main__":
    model = Net()
    compiled = torch.compile(model)
    # fix: model.layers.append(torch.nn.Tanh())
    compiled(torch.ones(4))
    model.layers.append(torch.nn.Tanh())  # fix: pass
    compiled(torch.ones(4))
