"""GB0808: vectorcall_maybe on C method descriptor."""

import datetime

import torch


@torch.compile
def f(x, start, wait):
    y = x * 2
    end = start + wait  # expect(<2.15): GB0808 [start + wait]  # expect(>=2.15): GB9493 [start + wait]
    return y + end.year


if __name__ == "__main__":
    f(torch.ones(2), datetime.date(2024, 1, 1), datetime.timedelta(days=2))
