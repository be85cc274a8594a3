"""A model and its batches."""

# cause: size of `x` at dimension 0 was 16, is now 12
# advice: dynamic=True

import torch


if __name__ == "__main__":
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()))  # fix: model = torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()), dynamic=True)
    for n in (16, 12):
        x = torch.ones(n, 4)
        model(x)  # expect: recompile [model(x)]
