"""A checkpoint."""

# stage: none

import torch
from torch.utils.checkpoint import checkpoint


@torch.compile
def f(x, w):
    return checkpoint(lambda x: (x @ w).sin().relu(), x, use_reentrant=False).sum()


if __name__ == "__main__":
    f(torch.ones(4, 4, requires_grad=True), torch.ones(4, 4, requires_grad=True)).backward()
