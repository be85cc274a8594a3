"""A product by one of Triton's templates, without library functions to choose from."""

# otherwise: the fastest of several templates is chosen on the device

import torch

device = "cuda"


@torch.compile(options={"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON"})
def project(x, weight):
    return torch.relu(x @ weight) * 2


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(512, 256, device=device, dtype=torch.bfloat16)
    weight = torch.randn(256, 512, device=device, dtype=torch.bfloat16)
    out = project(x, weight)
