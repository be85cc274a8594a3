"""A flag decides whether a value is updated."""

# cause: `self.frozen` was False, is now True
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


class Average(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.frozen = False

    def forward(self, x):
        if not self.frozen:  # expect: recompile [self.frozen]
            self.mean.mul_(0.9).add_(x, alpha=0.1)
        return x - self.mean


if __name__ == "__main__":
    model = Average()
    compiled = torch.compile(model)
    for frozen in (False, True):
        model.frozen = frozen
        compiled(torch.ones(4))
