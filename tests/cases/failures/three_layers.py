"""Three layers, whose relu cannot be lowered."""

# stage: inductor
# failure: error LoweringFault forward
# nodes: 1

import torch
from torch._inductor.lowering import lowerings


class LoweringFault(Exception):
    pass


def broken(x):
    raise LoweringFault("relu cannot be lowered")


lowerings[torch.ops.aten.relu.default] = broken


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(64, 64)
        self.second = torch.nn.Linear(64, 64)
        self.third = torch.nn.Linear(64, 64)

    def forward(self, x):
        x = torch.relu(self.first(x))  # fault
        x = torch.relu(self.second(x))
        return torch.relu(self.third(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.compile(Model())(torch.randn(32, 64)).sum().backward()
