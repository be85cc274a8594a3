"""A tensor of another size in an object of a library."""

# cause: size of `batch.data['x']` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(batch.data['x'], 0)

from collections import UserDict

import torch


@torch.compile
def f(batch):
    return batch["x"] * 2  # expect: recompile [batch]


if __name__ == "__main__":
    for size in (10, 12):
        f(UserDict(x=torch.ones(size)))  # fix: batch = UserDict(x=torch.ones(size))
        # fix: torch._dynamo.mark_dynamic(batch.data['x'], 0)
        # fix: f(batch)
