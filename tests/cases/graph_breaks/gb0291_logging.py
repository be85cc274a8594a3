"""GB0291: logging.Logger method not supported for non-export cases."""

import logging

import torch

LOGGER = logging.getLogger("cases")


@torch.compile
def f(x):
    y = x * 2
    LOGGER.info("rows: %d", x.shape[0])  # expect: GB0291 [LOGGER.info("rows: %d", x.shape[0])]
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
