"""The last batch of an epoch has one sample."""

import torch


@torch.compile
def normalize(batch):
    return batch / batch.norm(dim=-1, keepdim=True)


if __name__ == "__main__":
    torch.manual_seed(0)
    for part in torch.randn(17, 4).split(8):
        normalize(part)
