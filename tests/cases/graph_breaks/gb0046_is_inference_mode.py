"""GB0046: Encountered torch.is_inference_mode_enabled during tracing."""

import torch


@torch.compile
def f(x):
    y = x * 2
    scale = 2 if torch.is_inference_mode_enabled() else 1  # expect: GB0046 [torch.is_inference_mode_enabled()]
    return y * scale


if __name__ == "__main__":
    f(torch.ones(2))
