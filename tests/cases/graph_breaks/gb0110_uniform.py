"""GB0110: Tensor.uniform_ op called with `from` keyword."""

import torch


@torch.compile
def f(x):
    y = x * 2
    noise = torch.empty(2).uniform_(**{"from": 1.0, "to": 2.0})  # expect: GB0110 [torch.empty(2).uniform_(**{"from": 1.0, "to": 2.0})]
    return y + noise


if __name__ == "__main__":
    f(torch.ones(2))
