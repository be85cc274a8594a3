"""Three independent."""

# cause: size of `a` at dimension 0 was 4, is now 6
# advice: torch.fx.experimental._config.use_duck_shape = False

import torch


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(a, b, c):
    return a.sum() + b.sum() + c.sum()  # expect: recompile [a]


if __name__ == "__main__":
    # fix: torch.fx.experimental._config.use_duck_shape = False
    for n, m in ((4, 4), (6, 8)):
        f(torch.ones(n), torch.ones(m), torch.ones(m))
