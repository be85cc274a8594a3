"""A named tuple of other numbers."""

# cause: `window.stop` was 4, is now any int
# advice: dynamic=True

from typing import NamedTuple

import torch


class Window(NamedTuple):
    start: int
    stop: int


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x, window):
    return x[window.start : window.stop] * 2  # expect: recompile [window.stop]


if __name__ == "__main__":
    for window in (Window(2, 4), Window(3, 6)):
        f(torch.ones(8), window)
