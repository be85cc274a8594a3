"""Mixed precision inside of the compiled function."""

import torch
import torch.nn.functional as F

device = "cuda"


@torch.compile
def project(x, weight):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        return F.gelu(x @ weight).float()


if __name__ == "__main__":
    torch.manual_seed(0)
    out = project(torch.randn(256, 256, device=device), torch.randn(256, 256, device=device))
