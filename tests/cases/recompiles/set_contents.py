"""A set that holds something else."""

# cause: `names` had the item 'relu', now lacks it
# advice: 'relu'

import torch


@torch.compile
def f(x, names):
    if "relu" in names:  # expect: recompile [names]
        x = x.relu()
    return x + 1


if __name__ == "__main__":
    x = -torch.ones(4)
    f(x, {"relu"})
    f(x, {"tanh"})  # fix: f(x, {'relu'})
