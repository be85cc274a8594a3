"""A tensor that autocast has made smaller."""

# cause: dtype of `x` was torch.float32, is now torch.bfloat16
# advice: x.to(torch.float32)

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.ones(4, dtype=dtype)
        f(x)  # fix: f(x.to(torch.float32))
