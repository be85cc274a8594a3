"""A cache grows together with the mask."""

# cause: size of `keys` at dimension 1 was 4, is now 5
# advice: torch._dynamo.mark_dynamic(mask, 1)

import torch


@torch.compile
def f(query, keys, mask):
    return torch.softmax(query @ keys.mT + mask, -1) @ keys  # expect: recompile [keys]


if __name__ == "__main__":
    for length in (4, 5, 6):
        keys, mask = torch.ones(1, length, 8), torch.zeros(1, length)
        # fix: torch._dynamo.mark_dynamic(keys, 1)
        # fix: torch._dynamo.mark_dynamic(mask, 1)
        f(torch.ones(1, 1, 8), keys, mask)
