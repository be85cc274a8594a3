"""The names of parameters in what torch.compile returns are others: no fault of the compiler."""

# stage: none

import torch

if __name__ == "__main__":
    layer = torch.nn.Sequential(torch.nn.Linear(2, 2))
    known = dict(layer.named_parameters())
    compiled = torch.compile(layer)
    compiled(torch.ones(1, 2))
    print(sum(name in known for name, _ in compiled.named_parameters()), "known")
