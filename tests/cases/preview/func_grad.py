"""A gradient that is part of the compiled function."""

import torch

device = "cuda"


@torch.compile
def sample_gradients(weight, x):
    def loss(weight, row):
        return (weight * row).tanh().sum()

    return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, x)


if __name__ == "__main__":
    torch.manual_seed(0)
    out = sample_gradients(torch.randn(128, device=device), torch.randn(32, 128, device=device))
