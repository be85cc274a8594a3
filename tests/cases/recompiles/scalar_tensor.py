"""A tensor without dimensions, then with one."""

# cause: rank of `scale` was 0, is now 1
# advice: scale.squeeze(0)

import torch


@torch.compile
def f(x, scale):
    return x * scale  # expect: recompile [scale]


if __name__ == "__main__":
    for scale in (torch.tensor(2.0), torch.tensor([2.0])):
        f(torch.ones(4), scale)  # fix: f(torch.ones(4), scale.squeeze(0) if scale.dim() else scale)
