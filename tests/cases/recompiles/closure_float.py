"""A function that is made anew, closed over another fraction."""

# cause: `scale` was 0.5, is now any float
# advice: torch.tensor(scale)

import torch


def make(scale):
    @torch.compile
    def f(x):
        return x * scale  # expect: recompile [scale]

    return f


if __name__ == "__main__":
    for scale in (0.5, 0.25):
        make(scale)(torch.ones(4))  # fix: make(torch.tensor(scale))(torch.ones(4))
