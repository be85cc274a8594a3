"""A global tensor of another size."""

# cause: size of `table` at dimension 0 was 10, is now 12
# advice: torch._dynamo.mark_dynamic(table, 0)

import torch

table = torch.ones(10)


@torch.compile
def f(x):
    return table.sum() * x  # expect: recompile [table]


if __name__ == "__main__":
    for size in (10, 12):
        table = torch.ones(size)
        # fix: torch._dynamo.mark_dynamic(table, 0)
        f(torch.ones(3))
