"""k of topk."""

# cause: `k` was 2, is now any int
# advice: dynamic=True

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, k):
    return x.topk(k).values  # expect: recompile [k]


if __name__ == "__main__":
    for k in (2, 3):
        f(torch.ones(8), k)
