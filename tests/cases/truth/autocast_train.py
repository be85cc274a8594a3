"""Training with autocast to bfloat16 and a gradient scaler, evaluation without."""

import torch

if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(4))
    model(torch.randn(2, 3, 8, 8))
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for size in (4, 4, 2):
        with torch.autocast("cpu", torch.bfloat16):
            loss = compiled(torch.randn(size, 3, 8, 8)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    with torch.inference_mode():
        compiled(torch.randn(4, 3, 8, 8))
