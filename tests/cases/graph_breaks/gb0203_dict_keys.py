"""GB0203: non-const keys in dict_keys."""

import torch


class Key:
    pass


@torch.compile
def f(x, keys):
    y = x * 2
    return y + len(keys)  # expect: GB0203 [len(keys)]


if __name__ == "__main__":
    f(torch.ones(2), {Key(): 2}.keys())
