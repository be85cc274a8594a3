"""Half, bfloat16, single, integer and boolean in one kernel."""

import torch

device = "cuda"


@torch.compile
def mix(half, brain, single, whole):
    return half * single + brain.float() * whole, (half > 0) & (whole % 3 == 0), (single * 8).to(torch.int16)


if __name__ == "__main__":
    torch.manual_seed(0)
    half = torch.randn(4096, device=device).half()
    brain = torch.randn(4096, device=device).bfloat16()
    single = torch.randn(4096, device=device)
    whole = torch.randint(-9, 9, (4096,), device=device)
    out = mix(half, brain, single, whole)
