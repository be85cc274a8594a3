"""A list of tensors of different sizes grows."""

# cause: length of `features` was 2, is now 3
# advice: has its own graph, compiled once
# fix: none (each length is a graph of its own)

import torch


@torch.compile
def f(features):
    return [feature * 2 for feature in features]  # expect: recompile [features]


if __name__ == "__main__":
    for count in (2, 3):
        features = [torch.ones(size + 3) for size in range(count)]
        f(features)
