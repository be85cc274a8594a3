"""A number in a global dict."""

# cause: `SETTINGS['scale']` was 0.5, is now any float
# advice: dynamic=True

import torch

SETTINGS = {"scale": 0.5}


@torch.compile  # fix: @torch.compile(dynamic=True)
def f(x):
    return x * SETTINGS["scale"]  # expect: recompile [SETTINGS["scale"]]


if __name__ == "__main__":
    for scale in (0.5, 0.25):
        SETTINGS["scale"] = scale
        f(torch.ones(4))
