"""What a weak reference refers to has gone."""

# cause: `reference()` was type Config, is now None
# advice: reference

import weakref

import torch


class Config:
    pass


@torch.compile
def f(x, reference):
    return x + 1 if reference() is None else x * 2  # expect: recompile [reference()]


if __name__ == "__main__":
    config = Config()
    reference = weakref.ref(config)
    x = torch.arange(4.0)
    f(x, reference)
    del config  # fix: pass
    f(x, reference)
