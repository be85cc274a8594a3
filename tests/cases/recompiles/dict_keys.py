"""A dict with another key."""

# cause: length of `batch` is no longer 1
# advice: the same keys

import torch


@torch.compile
def f(batch):
    return sum(batch.values())  # expect: recompile [batch]


if __name__ == "__main__":
    x = torch.ones(4)
    f({"a": x})  # fix: f({"a": x, "b": torch.zeros(4)})  # the same keys
    f({"a": x, "b": torch.ones(4)})
