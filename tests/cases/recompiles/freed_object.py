"""An object that the code knows by its identity, made anew for each call."""

# cause: `owner` was another `Owner`, which has been freed
# advice: `torch.compiler.reset()`

import torch


class Owner:
    pass


KEPT = Owner()


@torch.compile
def scale(owner, x):
    return x * (2 if id(owner) == id(KEPT) else 3)  # expect: recompile [owner]


if __name__ == "__main__":
    for _ in range(2):
        scale(Owner(), torch.ones(3))  # fix: scale(KEPT, torch.ones(3))
