"""A product of numbers with eight bits."""

import torch

device = "cuda"


@torch.compile
def project(x, weight, x_scale, weight_scale):
    product = torch._scaled_mm(x, weight.t(), x_scale, weight_scale, out_dtype=torch.bfloat16)
    return product.relu()


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 256, device=device).to(torch.float8_e4m3fn)
    weight = torch.randn(256, 256, device=device).to(torch.float8_e4m3fn)
    one = torch.tensor(1.0, device=device)
    out = project(x, weight, one, one)
