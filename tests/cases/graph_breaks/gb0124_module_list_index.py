"""GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False."""

import torch


class Blocks(torch.nn.ModuleList):
    def __getitem__(self, key):
        return super().__getitem__(key)


@torch.compile
def f(x, blocks, index):
    y = x * 2
    return blocks[index](y)  # expect: GB0124 [blocks[index]]


if __name__ == "__main__":
    f(torch.ones(2), torch.nn.ModuleList([torch.nn.Linear(2, 2)]), torch.tensor(0))
