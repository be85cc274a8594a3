"""GB9625: traceback.tb_lasti not supported."""

import torch


@torch.compile
def f(x):
    y = x * 2
    try:
        raise ValueError
    except ValueError as error:
        offset = error.__traceback__.tb_lasti  # expect: GB9625 [error.__traceback__.tb_lasti]
    return y + offset


if __name__ == "__main__":
    f(torch.ones(2))
