"""Operations on lists of tensors become one kernel."""

import torch

device = "cuda"


@torch.compile
def update(averages, values):
    return torch._foreach_add(torch._foreach_mul(averages, 0.9), values, alpha=0.1)


if __name__ == "__main__":
    torch.manual_seed(0)
    averages, values = ([torch.randn(size, device=device) for size in (100, 2000, 30)] for _ in range(2))
    out = update(averages, values)
