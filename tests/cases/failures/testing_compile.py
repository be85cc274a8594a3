"""A relu does not compile, with the backend that torch has for its own tests."""

# stage: relu_compile_error_TESTING_ONLY
# failure: error ReluCompileError forward
# nodes: 1

import torch


@torch.compile(backend="relu_compile_error_TESTING_ONLY")
def block(x, y):
    z = torch.cos(x) + y
    z = torch.relu(z)  # fault
    return z.mean(dim=1) - y.sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    block(torch.randn(4, 6), torch.randn(6))
