"""Three layers, and TorchInductor with a fault in what it writes for relu."""

import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 64) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.compile(Model())(torch.randn(32, 64)).sum().backward()
