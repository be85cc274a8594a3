"""GB0014: Attempted to wrap RNN, GRU, or LSTM."""

import torch


@torch.compile
def f(x, lstm):
    y = x * 2
    out, _ = lstm(y)  # expect(<2.15): GB0014 [lstm(y)]  # expect(>=2.15): GB0148 [lstm(y)]
    return out + 1


if __name__ == "__main__":
    f(torch.ones(1, 1, 2), torch.nn.LSTM(2, 2))
