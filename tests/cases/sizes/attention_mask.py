"""Attention with a mask of the padding, for batches of other lengths."""

import torch


@torch.compile
def attend(query, keys, mask):
    scores = query @ keys.mT / keys.shape[-1] ** 0.5
    return torch.softmax(scores.masked_fill(~mask[:, None, :], float("-inf")), -1) @ keys


if __name__ == "__main__":
    torch.manual_seed(0)
    for length in (6, 9, 14):
        mask = torch.arange(length) < torch.tensor([[length], [length - 2]])
        query, keys = torch.randn(2, 4, 8), torch.randn(2, length, 8)
        attend(query, keys, mask)
