"""A key that is looked for is there in one call only."""

# cause: `options` lacked the key 'bias', now has it
# advice: 'bias'

import torch


@torch.compile
def f(x, options):
    if "bias" in options:  # expect: recompile [options]
        x = x + options["bias"]
    return x * 2


if __name__ == "__main__":
    x = torch.ones(4)
    f(x, {})  # fix: f(x, {'bias': torch.zeros(4)})
    f(x, {"bias": torch.ones(4)})
