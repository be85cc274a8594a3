"""A probability."""

# cause: `p` was 0.1, is now 0.2
# advice: needs the concrete value of `p`
# fix: none (each rate is a graph of its own)

import torch


@torch.compile
def f(x, p):
    return torch.nn.functional.dropout(x, p)  # expect: recompile [p]


if __name__ == "__main__":
    for p in (0.1, 0.2):
        f(torch.ones(4), p)
