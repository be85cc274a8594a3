"""An attribute that is looked for comes after the first call."""

# cause: `config` was without .bias, is now with .bias
# advice: .bias

import torch


class Config:
    pass


@torch.compile
def f(x, config):
    return x + 1 if hasattr(config, "bias") else x * 2  # expect: recompile [config]


if __name__ == "__main__":
    config = Config()
    # fix: config.bias = 1
    f(torch.ones(4), config)
    config.bias = 1
    f(torch.ones(4), config)
