"""A graph whose input is the result of something else does not compile."""

# stage: non_leaf_compile_error_TESTING_ONLY
# failure: error TestingOnlyCompileError forward
# nodes: 1

import torch


@torch.compile(backend="non_leaf_compile_error_TESTING_ONLY")
def block(x):
    return torch.sin(x) * 2  # fault


if __name__ == "__main__":
    x = torch.ones(4, requires_grad=True)
    block(x * 3).sum().backward()
