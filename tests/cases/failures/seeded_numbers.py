"""A program that wants the random numbers of eager code, which TorchInductor does not draw."""

# stage: compiled
# failure: error AssertionError forward
# nodes: 0

import torch


@torch.compile
def noisy(x):
    return x + torch.randn_like(x)


if __name__ == "__main__":
    torch.manual_seed(7)
    wanted = 1 + torch.randn(6)
    torch.manual_seed(7)
    assert torch.allclose(noisy(torch.ones(6)), wanted)  # fault
