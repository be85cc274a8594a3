"""A mask is passed by keyword in one call only."""

# cause: `kwargs` lacked the key 'mask', now has it
# advice: none
# fix: none (with and without a mask are two graphs)

import torch


@torch.compile
def f(x, **kwargs):
    mask = kwargs.get("mask")  # expect: recompile [kwargs]
    return x * 2 if mask is None else x * mask


if __name__ == "__main__":
    f(torch.ones(4))
    f(torch.ones(4), mask=torch.ones(4))
