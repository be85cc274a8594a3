"""GB0264: Attempted to use `torch.nn.Parameter()` constructor with Dynamo."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        y = x * 2
        self.register_parameter("extra", torch.nn.Parameter(torch.ones(2)))  # expect: GB0264 [torch.nn.Parameter(torch.ones(2))]
        return y + sum(p.sum() for p in self.parameters())


if __name__ == "__main__":
    torch.compile(Model())(torch.ones(2))
