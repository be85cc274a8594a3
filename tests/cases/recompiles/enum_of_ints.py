"""A member of an enum of numbers."""

# cause: `order` was Order.FIRST, is now Order.SECOND
# advice: has its own graph, compiled once
# fix: none (each member is a graph of its own)

import enum

import torch


class Order(enum.IntEnum):
    FIRST = 2
    SECOND = 3


@torch.compile
def f(x, order):
    return x**order  # expect: recompile [order]


if __name__ == "__main__":
    for order in Order:
        f(torch.ones(4), order)
