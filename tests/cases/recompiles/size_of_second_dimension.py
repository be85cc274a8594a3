"""A sequence of another length, behind a batch that stays."""

# cause: size of `batch` at dimension 1 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(batch, 1)

import torch


@torch.compile
def f(batch):
    return batch.sum(1)  # expect: recompile [batch]


if __name__ == "__main__":
    for length in (10, 12):
        batch = torch.ones(4, length)
        # fix: torch._dynamo.mark_dynamic(batch, 1)
        f(batch)
