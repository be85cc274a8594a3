"""GB0277: Attempted to wrap sparse Tensor with VariableTracker."""

import torch


@torch.compile
def f(x):
    y = x.relu()
    z = y.to_sparse()  # expect: GB0277 [y.to_sparse()]
    return z.to_dense() + 1  # expect: GB0015 [z.to_dense]


if __name__ == "__main__":
    f(torch.randn(3, 3))
