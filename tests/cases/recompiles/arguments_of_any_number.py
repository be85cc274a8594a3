"""Another number of positional arguments."""

# cause: length of `tensors` was 2, is now 3
# advice: has its own graph, compiled once
# fix: none (each length is a graph of its own)

import torch


@torch.compile
def f(*tensors):
    return sum(tensors)  # expect: recompile [tensors]


if __name__ == "__main__":
    for count in (2, 3):
        f(*[torch.ones(4)] * count)
