"""GB0005: Attempted to a str() method implemented in C/C++."""

import datetime

import torch


@torch.compile
def f(x, day):
    y = x * 2
    text = str(day)  # expect(<2.15): GB0005 [str(day)]  # expect(>=2.15): GB9493 [str(day)]
    return y + len(text)


if __name__ == "__main__":
    f(torch.ones(2), datetime.date(2024, 1, 1))
