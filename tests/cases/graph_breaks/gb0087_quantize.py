"""GB0087: NotImplementedError/UnsupportedFakeTensorException when running FX node."""

import torch


@torch.compile
def f(x):
    y = x * 2
    qscheme = torch.quantize_per_tensor(y, 0.1, 0, torch.qint8).qscheme()  # expect: GB0087 [torch.quantize_per_tensor(y, 0.1, 0, torch.qint8).qscheme()]
    return y


if __name__ == "__main__":
    f(torch.ones(2))
