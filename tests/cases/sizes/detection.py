"""Each image has another number of boxes, scored against the boxes that are known."""

import torch


@torch.compile
def overlap(boxes, truth):
    low = torch.maximum(boxes[:, None, :2], truth[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], truth[None, :, 2:])
    inside = (high - low).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)[:, None] + (truth[:, 2:] - truth[:, :2]).prod(-1)
    return inside / (area - inside).clamp(min=1e-6)


def some(count):
    low = torch.rand(count, 2)
    return torch.cat([low, low + torch.rand(count, 2)], 1)


if __name__ == "__main__":
    torch.manual_seed(0)
    for found, known in ((9, 3), (14, 5), (6, 8)):
        boxes, truth = some(found), some(known)
        overlap(boxes, truth)
