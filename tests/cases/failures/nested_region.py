"""A nested compile region, in training: neither running it as it is nor its copy is at fault."""

# stage: none

import torch


@torch.compiler.nested_compile_region
def block(x, w):
    return (x @ w).sin()


@torch.compile
def f(x, w):
    for _ in range(3):
        x = block(x, w)
    return x.sum()


if __name__ == "__main__":
    f(torch.ones(4, 4, requires_grad=True), torch.ones(4, 4, requires_grad=True)).backward()
