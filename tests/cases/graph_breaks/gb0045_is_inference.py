"""GB0045: Encountered tensor.is_inference() during tracing."""

import torch


@torch.compile
def f(x):
    y = x * 2
    return y + 1 if x.is_inference() else y  # expect: GB0045 [x.is_inference()]


if __name__ == "__main__":
    f(torch.ones(2))
