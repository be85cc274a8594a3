"""GB0015: Attempted to wrap sparse Tensor."""

import torch


@torch.compile
def matvec(a, x):
    x = x + 1
    y = a @ x  # expect: GB0015 [a @ x]
    return y.relu()


if __name__ == "__main__":
    matvec(torch.eye(3).to_sparse(), torch.ones(3, 1))
