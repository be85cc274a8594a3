"""A function is closed over a tensor of another size."""

# cause: size of `bias` at dimension 0 was 4, is now 6
# advice: dynamic=True

import torch


def make(bias):
    @torch.compile  # fix: @torch.compile(dynamic=True)
    def f(x):
        return x + bias.sum()  # expect: recompile [bias]

    return f


if __name__ == "__main__":
    for size in (4, 6):
        make(torch.ones(size))(torch.ones(3))
