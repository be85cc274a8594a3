"""The step of an optimizer for several parameters."""

import torch

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(size, device=device)) for size in (64, 1000, 300)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, capturable=True)
    step = torch.compile(optimizer.step)
    step()
