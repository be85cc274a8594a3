"""Keys and values grow by one in each step."""

# cause: size of `keys` at dimension 1 was 4, is now 5
# advice: torch._dynamo.mark_dynamic(keys, 1)

import torch


@torch.compile
def f(query, keys):
    return torch.softmax(query @ keys.mT, -1) @ keys  # expect: recompile [keys]


if __name__ == "__main__":
    keys = torch.ones(1, 4, 8)
    for _ in range(3):
        # fix: torch._dynamo.mark_dynamic(keys, 1)
        f(torch.ones(1, 1, 8), keys)
        keys = torch.cat([keys, torch.ones(1, 1, 8)], 1)
