"""A program that asks for the device before it computes."""

import torch

device = "cuda"


@torch.compile
def ask(x):
    place = "cuda" if torch.cuda.is_available() else "cpu"
    y = torch.arange(256, device=place) + torch.tensor([1.0], device="cuda")
    if torch.cuda.get_device_capability()[0] >= 8:
        y = y * 2
    return x + y


if __name__ == "__main__":
    torch.manual_seed(0)
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() > 0
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    x = torch.randn(256, 256, device=device)
    if torch.cuda.is_bf16_supported() and properties.multi_processor_count > 1:
        x = x.bfloat16()
    torch.cuda.synchronize()
    out = ask(x.cuda())
