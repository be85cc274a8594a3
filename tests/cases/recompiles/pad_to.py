"""A length to pad to."""

# cause: `length` was 8, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, length):
    return torch.nn.functional.pad(x, (0, length - x.shape[0]))  # expect: recompile [length]


if __name__ == "__main__":
    for length in (8, 10):
        f(torch.ones(4), length)
