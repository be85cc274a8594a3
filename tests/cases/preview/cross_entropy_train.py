"""The loss of a language model: a log-softmax of long rows, one element of each."""

# backward

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def loss(logits, wanted):
    return F.cross_entropy(logits, wanted, ignore_index=-1)


if __name__ == "__main__":
    torch.manual_seed(0)
    logits = torch.randn(512, 32_000, device=device, requires_grad=True)
    wanted = torch.randint(0, 32_000, (512,), device=device)
    out = loss(logits, wanted)
    out.backward()
