"""GB0059: Failed to trace builtin operator."""

import torch


class Grid(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = {}

    def __setitem__(self, key, value):
        print(end="")  # expect: GB0059 [print(end="")]
        self.rows[key] = value


@torch.compile
def f(grid, x):
    y = x * 2
    grid["a"] = y
    return y + 1


if __name__ == "__main__":
    f(Grid(), torch.ones(2))
