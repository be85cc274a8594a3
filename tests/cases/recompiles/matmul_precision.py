"""The precision of matrix products changes after the first call."""

# cause(<2.15): allow tf32 was False, is now True
# cause(>=2.15): cuda matmul precision was 0, is now 2
# advice: torch.set_float32_matmul_precision(

import torch


@torch.compile
def f(x):  # expect: recompile [f]
    return x @ x


if __name__ == "__main__":
    # fix: torch.set_float32_matmul_precision("high")
    f(torch.ones(2, 2))
    torch.set_float32_matmul_precision("high")
    f(torch.ones(2, 2))
