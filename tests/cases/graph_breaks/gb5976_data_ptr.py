"""GB5976: Data pointer comparison."""

import torch


@torch.compile
def f(x, y):
    z = x * 2
    if x.data_ptr() == y.data_ptr():  # expect: GB5976 [x.data_ptr() == y.data_ptr()]
        z = z + 1
    return z


if __name__ == "__main__":
    f(torch.ones(2), torch.ones(2))
