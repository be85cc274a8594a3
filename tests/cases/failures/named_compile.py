"""A relu module does not compile, with a backend of Fullgraph by its name."""

# stage: fullgraph_relu_compile_error
# failure: error InjectedError forward
# nodes: 1

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(6, 4)
        self.act = torch.nn.ReLU()

    def forward(self, x):
        return torch.tanh(self.act(self.inner(x)))  # fault


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.compile(Block(), backend="fullgraph_relu_compile_error")(torch.randn(5, 6)).sum().backward()
