"""A type as an argument."""

# cause: `dtype` was torch.float64, is now torch.bfloat16
# advice: has its own graph, compiled once
# fix: none (each is a graph of its own)

import torch


@torch.compile
def f(x, dtype):
    return x.to(dtype) * 2  # expect: recompile [dtype]


if __name__ == "__main__":
    for dtype in (torch.float64, torch.bfloat16):
        f(torch.ones(4), dtype)
