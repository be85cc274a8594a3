"""GB6053: repr_impl not implemented."""

import torch


@torch.compile
def f(x, names):
    y = x * 2
    text = str(enumerate(names))  # expect(<2.15): GB0059 [str(enumerate(names))]  # expect: GB8335 [str(enumerate(names))]  # expect(>=2.15): GB6053 [str(enumerate(names))]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2), ["a"])
