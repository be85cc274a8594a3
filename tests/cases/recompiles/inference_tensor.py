"""A tensor that was made in inference mode."""

# cause: autograd of `x` was on, is now off
# advice: x.clone()

import torch


@torch.compile
def f(x):
    return x * 2  # expect: recompile [x]


if __name__ == "__main__":
    f(torch.ones(4))
    with torch.inference_mode():
        x = torch.ones(4)
    f(x)  # fix: f(x.clone())
