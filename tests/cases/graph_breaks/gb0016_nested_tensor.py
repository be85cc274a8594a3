"""GB0016: Attempted to wrap strided NestedTensor."""

import torch


@torch.compile
def f(x, nested):
    y = x * 2
    return y + nested.to_padded_tensor(0.0)  # expect: GB0016 [nested.to_padded_tensor]


if __name__ == "__main__":
    f(torch.ones(2, 2), torch.nested.nested_tensor([torch.ones(2), torch.ones(1)]))
