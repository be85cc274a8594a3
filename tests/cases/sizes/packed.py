"""Sequences packed behind each other: attention only within one, told by its number."""

import torch


@torch.compile
def attend(x, number):
    same = number[:, None] == number
    return torch.softmax((x @ x.T).masked_fill(~same, -1e9), -1) @ x


if __name__ == "__main__":
    torch.manual_seed(0)
    for lengths in ((3, 5), (4, 4, 6), (9, 2)):
        number = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        x = torch.randn(sum(lengths), 8)
        attend(x, number)
