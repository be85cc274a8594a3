"""The step of an optimizer is compiled, with a schedule that changes the rate."""

import torch

if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    @torch.compile
    def step():
        optimizer.step()

    for _ in range(5):
        model(torch.randn(4, 8)).sum().backward()
        step()
        schedule.step()
        optimizer.zero_grad()
