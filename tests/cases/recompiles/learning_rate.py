"""The learning rate of an optimizer whose step is compiled."""

# cause: `self.param_groups[0]['lr']` was 0.1, is now 0.01
# advice: torch.tensor(

import torch

if __name__ == "__main__":
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([weight], lr=0.1)  # fix: optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.1))

    @torch.compile
    def step():
        optimizer.step()  # expect: recompile

    for lr in (0.1, 0.01):
        weight.grad = torch.ones(4)
        optimizer.param_groups[0]["lr"] = lr  # fix: optimizer.param_groups[0]["lr"].fill_(lr)
        step()
