"""What Dynamo captures computes something else."""

# stage: eager
# failure: accuracy Numbers forward
# nodes: 0

import torch


def scale(x):
    if torch.compiler.is_compiling():
        return x * 2.5
    return x * 2


@torch.compile  # fault
def step(x):
    return scale(x.sin()) + 1


if __name__ == "__main__":
    step(torch.arange(4.0))
