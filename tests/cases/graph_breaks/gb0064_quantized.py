"""GB0064: Fake tensor propagation exception."""

import torch


@torch.compile
def f(x, q):
    y = x * 2
    return y + q.dequantize()  # expect: GB0064 [q.dequantize]


if __name__ == "__main__":
    f(torch.ones(2), torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8))
