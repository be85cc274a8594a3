"""A dict with as many keys, but others."""

# cause: key of `batch` was 'a', is now 'b'
# advice: 'a'

import torch


@torch.compile
def f(batch):
    return sum(batch.values())  # expect: recompile [batch]


if __name__ == "__main__":
    x = torch.ones(4)
    f({"a": x})
    f({"b": x})  # fix: f({'a': x})
