"""One graph, and a backend that fails at its relu: the failure of ``--small``, for which nothing is built."""

import torch


@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def rectified(x):
    return torch.relu(x).sin()


if __name__ == "__main__":
    rectified(torch.ones(4))
