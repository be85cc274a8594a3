"""The last batch of inputs and targets is smaller."""

# cause: size of `inputs` at dimension 0 was 4, is now 3
# advice: torch._dynamo.mark_dynamic(targets, 0)

import torch
from torch.utils.data import DataLoader, TensorDataset


@torch.compile
def f(inputs, targets):
    return (inputs - targets).square().mean()  # expect: recompile [inputs]


if __name__ == "__main__":
    data = TensorDataset(torch.ones(11, 3), torch.ones(11, 3))
    for _ in range(2):
        for inputs, targets in DataLoader(data, batch_size=4):
            # fix: torch._dynamo.mark_dynamic(inputs, 0)
            # fix: torch._dynamo.mark_dynamic(targets, 0)
            f(inputs, targets)
