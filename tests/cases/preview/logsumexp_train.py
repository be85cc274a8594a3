"""A logsumexp and a log-softmax in bfloat16."""

# backward

import torch

device = "cuda"


@torch.compile
def energy(x):
    return x.logsumexp(-1) + x.log_softmax(-1).mean(-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 2048, device=device, dtype=torch.bfloat16, requires_grad=True)
    out = energy(x)
    out.sum().backward()
