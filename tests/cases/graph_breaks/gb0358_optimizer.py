"""GB0358: optimizer: pending mutation on parameter."""

import torch

weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)


@torch.compile
def step(x):
    weight.grad = x * 2
    optimizer._init_group(optimizer.param_groups[0], [], [], [])  # expect: GB0358 [optimizer._init_group(optimizer.param_groups[0], [], [], [])]
    return x + 1


if __name__ == "__main__":
    step(torch.ones(2))
