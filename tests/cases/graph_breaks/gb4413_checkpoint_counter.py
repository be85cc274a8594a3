"""GB4413: HOP: Non-nullified side effect."""

import torch
from torch.utils.checkpoint import checkpoint


class Block(torch.nn.Module):
    calls = 0

    def forward(self, x):
        self.calls += 1
        return x.relu()


@torch.compile
def f(x, block):
    y = x * 2
    return checkpoint(block, y, use_reentrant=False)  # expect: GB4413 [checkpoint(block, y, use_reentrant=False)]


if __name__ == "__main__":
    f(torch.ones(2, requires_grad=True), Block())
