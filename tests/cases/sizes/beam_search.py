"""Beams with scores: what they say grows by one word in each step."""

import torch


@torch.compile
def best(scores, words, logits):
    beams, vocabulary = logits.shape
    total = (scores[:, None] + logits.log_softmax(-1)).flatten()
    top, index = total.topk(beams)
    chosen = words[index // vocabulary]
    return top, torch.cat([chosen, (index % vocabulary)[:, None]], 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    scores, words = torch.zeros(3), torch.zeros(3, 4, dtype=torch.long)
    for _ in range(4):
        scores, words = best(scores, words, torch.randn(3, 10))
