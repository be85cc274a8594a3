"""GB0296: attempted to reorder a debugging function that can't actually be reordered."""

import torch


@torch.compile
def f(x, config):
    y = x * 2
    print(config, end="")  # expect: GB0296 [print(config, end="")]
    return y + 1


class Config:
    def __str__(self):
        return ""


if __name__ == "__main__":
    with torch._dynamo.config.patch(reorderable_logging_functions={print}):
        f(torch.ones(2), Config())
