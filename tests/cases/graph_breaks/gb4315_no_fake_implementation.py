"""GB4315: RuntimeError when making fake tensor call."""

import torch


@torch.library.custom_op("cases::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.compile
def f(x):
    y = x.sin()
    z = double(y)  # expect: GB4315 [double(y)]
    return z.cos()


if __name__ == "__main__":
    try:
        f(torch.ones(2))
    except RuntimeError:
        pass
