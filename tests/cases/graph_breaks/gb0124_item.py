"""GB0124: Unsupported Tensor.item() call with capture_scalar_outputs=False."""

import torch


@torch.compile
def normalize(x):
    peak = x.abs().max().item()  # expect: GB0124 [x.abs().max().item()]
    return x / peak


if __name__ == "__main__":
    normalize(torch.tensor([1.0, -4.0]))
