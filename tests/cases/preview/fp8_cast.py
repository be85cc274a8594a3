"""A quantization to eight bits of floating point, by the largest element."""

import torch

device = "cuda"


@torch.compile
def quantize(x):
    scale = x.abs().amax() / 448
    return (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale


if __name__ == "__main__":
    torch.manual_seed(0)
    out = quantize(torch.randn(256, 256, device=device))
