"""An attribute that is looked for comes after the first call."""

# cause: `config` lacked the attribute .bias, now has it
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
