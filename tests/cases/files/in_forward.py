"""A compiled model writes a file between two graphs, and a hook removes one."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


class Logging(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        x = self.layer(x)
        with open("log.txt", "w") as file:
            file.write("forward")
        return x.relu()


logging = Logging()
removing = logging.register_full_backward_hook(lambda *_: os.remove("m.pt"))
torch.compile(logging)(torch.randn(2, 4)).sum().backward()
with open("log.txt") as file:
    assert file.read() == "forward"
assert not os.path.exists("m.pt")
print("end in_forward")
