"""A number, then a tensor."""

# cause: `scale` was 2, is now a tensor
# advice: torch.tensor(scale, dtype=torch.float32)

import torch


@torch.compile
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (2, torch.tensor(2.0)):  # fix: for scale in (torch.tensor(2, dtype=torch.float32), torch.tensor(2.0)):
        f(torch.ones(4), scale)  # fix: f(torch.ones(4), scale)  # not torch.tensor(scale, dtype=torch.float32): both are tensors
