"""The grad mode changes between calls: it has no line, so the finding stands on the function."""

# cause: grad mode was True, is now False
# advice: This is expected
# fix: none (with and without gradients are two graphs)

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x * 2


if __name__ == "__main__":
    f(torch.ones(2))
    with torch.no_grad():
        f(torch.ones(2))
