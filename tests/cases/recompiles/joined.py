"""Two parts are joined."""

# cause: size of `a` at dimension 0 was 4, is now 6
# advice: torch._dynamo.mark_dynamic(b, 0)

import torch


@torch.compile
def f(a, b):
    return torch.cat([a, b]) * 2  # expect: recompile [a]


if __name__ == "__main__":
    for m, n in ((4, 4), (6, 8)):
        a, b = torch.ones(m), torch.ones(n)
        # fix: torch._dynamo.mark_dynamic(a, 0)
        # fix: torch._dynamo.mark_dynamic(b, 0)
        f(a, b)
