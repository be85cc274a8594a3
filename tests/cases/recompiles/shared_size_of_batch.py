"""Tokens and their mask grow together, in a dict."""

# cause: size of `batch['mask']` at dimension 1 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(batch['tokens'], 1)

import torch


@torch.compile
def f(batch):
    return batch["tokens"] * batch["mask"]  # expect: recompile [batch["mask"]]


if __name__ == "__main__":
    for length in (10, 12):
        batch = {"tokens": torch.ones(2, length), "mask": torch.ones(2, length)}
        # fix: torch._dynamo.mark_dynamic(batch['mask'], 1)
        # fix: torch._dynamo.mark_dynamic(batch['tokens'], 1)
        f(batch)
