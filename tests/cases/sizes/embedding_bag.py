"""Bags of words: another number of words, and of bags, in each call."""

import torch


@torch.compile
def pooled(weight, words, bags):
    return torch.zeros(bags.shape[0], weight.shape[1]).index_add(0, words % bags.shape[0], weight[words])


if __name__ == "__main__":
    torch.manual_seed(0)
    weight = torch.randn(30, 4)
    for count, number in ((12, 4), (19, 4), (12, 7)):
        words, bags = torch.randint(0, 30, (count,)), torch.arange(number)
        pooled(weight, words, bags)
