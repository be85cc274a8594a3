"""GB1584: repr() on nested function with non-constructible closure."""

import torch


@torch.compile
def f(x):
    y = x * 2

    def inner():
        return y

    text = str(inner)  # expect(<2.15): GB0059 [str(inner)]  # expect(>=2.15): GB1584 [str(inner)]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2))
