"""The size of a pooling kernel is an argument."""

# cause: `kernel` was 2, is now 3
# advice: needs the concrete value of `kernel`
# fix: none (each kernel is a graph of its own)

import torch


@torch.compile
def f(x, kernel):
    return torch.nn.functional.avg_pool1d(x, kernel)  # expect: recompile [kernel]


if __name__ == "__main__":
    for kernel in (2, 3):
        f(torch.ones(1, 2, 12), kernel)
