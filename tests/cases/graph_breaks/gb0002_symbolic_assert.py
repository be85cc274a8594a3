"""GB0002: Assertion failed on symbolic shapes."""

import torch


@torch.compile(dynamic=True)
def pairs(x):
    y = x.relu()
    assert y.shape[0] % 2 == 0, "an even number of rows"  # expect: GB0002 [y.shape[0] % 2 == 0]
    return y.view(-1, 2)


if __name__ == "__main__":
    try:
        pairs(torch.randn(7))
    except AssertionError:
        pass
