"""GB0055: Failed to convert args/kwargs to proxy."""

import torch


class Rows:
    def __init__(self, count):
        self.count = count

    def __index__(self):
        return self.count


@torch.compile
def f(x, rows):
    y = x.relu()
    z = torch.narrow(y, 0, 0, rows)  # expect: GB0055 [torch.narrow(y, 0, 0, rows)]
    return z + 1


if __name__ == "__main__":
    f(torch.ones(4), Rows(2))
