"""GB2852: untraceable user-defined __repr__."""

import datetime

import torch


@torch.compile
def f(x, day):
    y = x * 2
    text = repr(day)  # expect(<2.15): GB2852 [repr(day)]  # expect(>=2.15): GB9493 [repr(day)]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2), datetime.date(2024, 1, 1))
