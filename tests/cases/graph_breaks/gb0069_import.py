"""GB0069: Import failure."""

import torch


@torch.compile
def f(x):
    y = x * 2
    try:
        import flash_attention_that_is_not_installed  # expect: GB0069 [import flash_attention_that_is_not_installed]
    except ImportError:
        flash_attention_that_is_not_installed = None
    return y + 1


if __name__ == "__main__":
    f(torch.ones(2))
