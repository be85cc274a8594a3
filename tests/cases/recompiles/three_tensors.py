"""Three tensors share a size."""

# cause: size of `keys` at dimension 0 was 10, is now 12
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(query, keys, values):
    return query * keys + values  # expect: recompile [keys]


if __name__ == "__main__":
    for size in (10, 12):
        f(torch.ones(size), torch.ones(size), torch.ones(size))
