"""A triangle of scores is hidden."""

# backward

import torch

device = "cuda"


@torch.compile
def weigh(x):
    hidden = torch.ones(x.shape[-2:], device=x.device, dtype=torch.bool).triu(1)
    return x.masked_fill(hidden, float("-inf")).softmax(-1).tril()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 128, 128, device=device, requires_grad=True)
    out = weigh(x)
    out.square().sum().backward()
