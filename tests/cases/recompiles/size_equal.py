"""Two sizes were equal by chance in the first call: torch takes them for one."""

# cause: size of `y` at dimension 0 is no longer x.size()[0]
# advice: torch.fx.experimental._config.use_duck_shape = False

import torch


@torch.compile(dynamic=True)
def f(x, y):
    return x.sum() + y.sum()  # expect: recompile [y]


if __name__ == "__main__":
    # fix: torch.fx.experimental._config.use_duck_shape = False
    f(torch.ones(8), torch.ones(8))
    f(torch.ones(8), torch.ones(9))
