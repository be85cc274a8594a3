"""Each position sees the last four: a band of the scores, for sequences of other lengths."""

import torch

WINDOW = 4


@torch.compile
def attend(x):
    place = torch.arange(x.shape[1])
    distance = place[:, None] - place
    mask = (distance >= 0) & (distance < WINDOW)
    scores = (x @ x.mT).masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ x


if __name__ == "__main__":
    torch.manual_seed(0)
    for length in (10, 17, 6):
        x = torch.randn(2, length, 8)
        attend(x)
