"""The step of an optimizer with momentum."""

import torch

device = "cuda"


if __name__ == "__main__":
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(size, 32, device=device)) for size in (64, 1000)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer = torch.optim.SGD(parameters, lr=1e-2, momentum=0.9, weight_decay=0.1)

    @torch.compile
    def step():
        optimizer.step()

    step()
    step()
